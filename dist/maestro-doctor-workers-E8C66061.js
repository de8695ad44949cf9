const __made={},__make={},__part=module.exports=name=>{let made=__made[name];if(made===undefined){made=__made[name]={exports:{}};__make[name](made.exports,made)}return made.exports};
__make["maestro-doctor-workers-3QKE6GZ3.js"]=(function(exports,module){var m=Object.defineProperty;var k=Object.getOwnPropertyDescriptor;var v=Object.getOwnPropertyNames;var T=Object.prototype.hasOwnProperty;var $=(t,e)=>{for(var n in e)m(t,n,{get:e[n],enumerable:!0})},b=(t,e,n,r)=>{if(e&&typeof e=="object"||typeof e=="function")for(let a of v(e))!T.call(t,a)&&a!==n&&m(t,a,{get:()=>e[a],enumerable:!(r=k(e,a))||r.enumerable});return t};var q=t=>b(m({},"__esModule",{value:!0}),t);var I={};$(I,{checkWorkers:()=>g});module.exports=q(I);var o=require("./maestro-chunk-RNRFSHSS.js"),w=__part("maestro-chunk-HUSPX7P2.js"),C=require("./maestro-main-A18AEA45.js")("maestro-chunk-IZXKDRX5.js"),F=require("./maestro-main-A18AEA45.js")("maestro-chunk-5CC6XS2Q.js"),Q=require("./maestro-common-6E96C6D3.js")("maestro-chunk-ZVWR3RHP.js"),U=require("./maestro-common-6E96C6D3.js")("maestro-chunk-JGV44D7Q.js"),z=require("./maestro-main-A18AEA45.js")("maestro-chunk-YIVZISAC.js"),p=require("./maestro-chunk-ZCY3UNEC.js"),B=require("./maestro-common-6E96C6D3.js")("maestro-chunk-QCVKGCOT.js"),H=require("./maestro-main-A18AEA45.js")("maestro-chunk-CHDPHN2Z.js"),y=require("./maestro-common-6E96C6D3.js")("maestro-chunk-FAFQMVAS.js"),K=require("./maestro-common-6E96C6D3.js")("maestro-chunk-5K63VKGH.js"),D=require("./maestro-main-A18AEA45.js")("maestro-chunk-IZFDB7VB.js"),l=require("./maestro-main-A18AEA45.js")("maestro-chunk-S7VK7MGK.js"),J=require("./maestro-chunk-LG7K7YQS.js"),f=[6,2],x=2e3;function S(t){let{info:e}=t;return[...e===null?[{check:"queue",level:"warn",message:"The queue does not tell its version, persistence and eviction policy",hint:"Let its user run INFO: ACL SETUSER <user> +info"}]:[E(e),A(e,t.saves),M(e)],O(t),N(t),W(t)]}function s(t,e,n){return{check:"queue",level:t,message:e,...n===void 0?{}:{hint:n}}}function E(t){let e=t.valkey_version===void 0?"Redis":"Valkey",n=t.valkey_version??t.redis_version??"",[r=0,a=0]=n.split(".").map(Number);return r<(f[0]??0)||r===f[0]&&a<(f[1]??0)?s("fail",`${e} ${n} is too old for the queue`,"Install Redis 6.2 or newer, or Valkey."):s("ok",`Queue: ${e} ${n}`)}function A(t,e){if(t.aof_enabled==="1")return s("ok","The queue writes every change to disk (appendonly)");let n="Set it in redis.conf: appendonly yes";return e===!1?s("warn","The queue forgets everything when its server restarts",n):s("warn","The queue may forget the last minutes when its server restarts",n)}function M(t){let e=t.maxmemory_policy??"unknown";if(e==="noeviction")return s("ok","The queue drops nothing when its memory is full (noeviction)");let n=(t.maxmemory??"0")!=="0",r=`The queue may drop attempts when its memory is full (maxmemory-policy ${e})`;return s(n?"fail":"warn",r,"Set it in redis.conf: maxmemory-policy noeviction")}var R=/^-?(?:127\.[\d.]+|::1|localhost)$/;function O({bind:t,url:e,hasPassword:n}){let r="Bind it to 127.0.0.1 and reach it through ssh or WireGuard, or use rediss:// with a password.";if(t===null)return s("warn","The queue does not tell on which addresses it listens",r);let a=t.filter(u=>!R.test(u));if(t.length>0&&a.length===0)return s("ok","The queue listens on this machine alone");let i=a.length===0?"every address":a.join(" ");return n?e.startsWith("rediss:")?s("ok",`The queue listens on ${i}, with a password and TLS`):s("warn",`The queue listens on ${i}, and the password travels unencrypted`,r):s("fail",`The queue listens on ${i} and asks for no password: others can stop attempts`,r)}function N({user:t,hasPassword:e,readsAll:n}){let r="ACL SETUSER maestro on ><password> ~maestro:* &maestro:* +@all -@dangerous -@admin +info";if(!n)return s("ok",`The queue's user ${t??"of this machine"} reaches Maestro's keys alone`);let a=e?`The queue's user ${t??"default"}`:"Without a password, anyone who reaches the queue";return s("warn",`${a} reaches every key of the server`,r)}function W({clockMs:t}){let e=Math.abs(t);if(e<=x)return s("ok","The clocks of the queue and of this machine agree");let n=t>0?"ahead of":"behind",r=`The queue's clock is ${(0,y.a)(e)} ${n} this machine's`;return s("warn",r,"Synchronise both: timedatectl set-ntp true")}async function g(t,e){let n=()=>(0,o.a)(t,e,{given:void 0,option:"MAESTRO_WORKERS"});return[...await d("workers",async()=>((0,o.c)(e),(0,o.d)(e),[{check:"workers",level:"ok",message:"The worker key is set and long enough"}])),...await d("queue",async()=>{let r=n();return r===void 0?[]:S(await P(t,r))}),...await d("exchange",()=>_(t,(0,o.b)(t,e,{})))]}async function d(t,e){try{return await e()}catch(n){if(!(n instanceof l.a))throw n;return[{check:t,level:"fail",message:n.message,...n.hint===void 0?{}:{hint:n.hint}}]}}async function _(t,e){let{state:n,faults:r}=await(0,w.b)(t,"check",e),a=`"maestro exchange init ${(0,l.h)(e)}" ${n==="absent"?"creates":"repairs"} it.`,i="exchange";if(n==="current")return[{check:i,level:"ok",message:`The exchange ${e} and its hook are current`}];if(n==="stale")return[{check:i,level:"fail",message:`The exchange ${e} is not as it must be: ${r.join("; ")}`,hint:a}];if(n==="absent")return[{check:i,level:"fail",message:`The exchange ${e} does not exist`,hint:a}];let u=n==="foreign"?"is not an exchange":`cannot be read: ${r.join("; ")}`;return[{check:i,level:"fail",message:`${e} ${u}`}]}async function P(t,e){let n=await(0,p.b)(e,()=>{});try{let r=t.now().getTime(),[a,i]=await n.time(),u=(r+t.now().getTime())/2,h=await c(()=>n.info());return{url:e.url,info:h===null?null:j(h),bind:await L(n,h),saves:await G(n),user:await c(async()=>String(await n.acl("WHOAMI"))),hasPassword:e.password!==void 0,readsAll:await c(()=>n.exists("not-of-maestro"))!==null,clockMs:Math.round(Number(a)*1e3+Number(i)/1e3-u)}}finally{n.disconnect()}}async function c(t){try{return await t()}catch(e){if(/NOPERM|unknown command/i.test((0,l.c)(e)))return null;throw e}}function j(t){let e=[...t.matchAll(/^([a-z]\w*):(.*?)\r?$/gm)].map(([,n="",r=""])=>[n,r]);return Object.fromEntries(e)}async function L(t,e){let n=[...(e??"").matchAll(/^listener\d+:name=(?:tcp|tls),(.*)$/gm)].flatMap(([,a=""])=>[...a.matchAll(/bind=([^,\r\n]+)/g)].map(([,i=""])=>i));if(n.length>0)return n;let r=await c(async()=>await t.config("GET","bind"));return r===null?null:(r[1]??"").split(" ").filter(a=>a!=="")}async function G(t){let e=await c(async()=>await t.config("GET","save"));return e===null?null:(e[1]??"")!==""}0&&(module.exports={checkWorkers});
});
__make["maestro-chunk-HUSPX7P2.js"]=(function(exports,module){const __late=(id)=>new Proxy({},{get:(_,name)=>require(id)[name]});var p=Object.defineProperty;var _=Object.getOwnPropertyDescriptor;var C=Object.getOwnPropertyNames;var E=Object.prototype.hasOwnProperty;var H=(e,t)=>{for(var a in t)p(e,a,{get:t[a],enumerable:!0})},j=(e,t,a,n)=>{if(t&&typeof t=="object"||typeof t=="function")for(let s of C(t))!E.call(e,s)&&s!==a&&p(e,s,{get:()=>t[s],enumerable:!(n=_(t,s))||n.enumerable});return e};var I=e=>j(p({},"__esModule",{value:!0}),e);var J={};H(J,{a:()=>A,b:()=>k});module.exports=I(J);var d=require("./maestro-main-A18AEA45.js")("maestro-chunk-5CC6XS2Q.js"),x=require("./maestro-common-6E96C6D3.js")("maestro-chunk-ZVWR3RHP.js"),y=require("./maestro-common-6E96C6D3.js")("maestro-chunk-JGV44D7Q.js"),c=require("./maestro-common-6E96C6D3.js")("maestro-chunk-QCVKGCOT.js"),O=require("./maestro-main-A18AEA45.js")("maestro-chunk-IZFDB7VB.js"),i=require("./maestro-main-A18AEA45.js")("maestro-chunk-S7VK7MGK.js"),T=require("node:path"),b=__late("node:child_process"),m="refs/maestro-exchange",M=`#!/bin/sh
# A reference of an exchange is created once, and may be deleted. Everything else is rejected. Written by "maestro exchange init".
ref=$1 old=$2 new=$3
reject() {
  echo "maestro: $1" >&2
  exit 1
}
case $ref in
${m}/in/?* | ${m}/out/?*) ;;
*) reject "$ref is not a reference of an exchange" ;;
esac
name=\${ref#${m}/}
name=\${name#*/}
case $name in
*[!0-9a-f-]*) reject "$ref is not the name of an attempt" ;;
esac
# An object id of zeros, in either length, stands for a reference that does not exist.
case $new in
*[!0]*) ;;
*) exit 0 ;;
esac
case $old in
*[!0]*) reject "$ref exists already and is never overwritten" ;;
esac
exit 0
`,S=[["maestro.exchange","1"],["core.hooksPath","hooks"],["core.logAllRefUpdates","false"],["receive.fsckObjects","true"],["receive.maxInputSize","1g"],["receive.denyDeletes","false"],["receive.denyNonFastForwards","false"],["gc.pruneExpire","2.weeks.ago"],["uploadpack.allowTipSHA1InWant","true"]];function N(e,t){return[`task=${e}`,`place=${g(t)}`,P,...S.map(([a,n])=>`setting ${g(a)} ${g(n)}`),R,G].join(`
`)}function g(e){return`'${e.replaceAll("'","'\\''")}'`}var w="maestro-exchange:",P=`
PATH=\${PATH:-/usr/local/bin:/usr/bin:/bin}
LC_ALL=C
export PATH LC_ALL
unset GIT_DIR GIT_WORK_TREE GIT_CONFIG_PARAMETERS GIT_CONFIG_COUNT
say() { printf '${w} %s\\n' "$*"; }
answer() { say "state $1"; say "path $place"; exit 0; }
fault() { found=1; say "fault $1"; }
case $place in '~') place=$HOME ;; '~/'*) place=$HOME/\${place#'~/'} ;; esac
command -v git >/dev/null 2>&1 || { say "fault git is not installed there"; answer failed; }
found=
created=
if [ -d "$place" ] && [ -n "$(ls -A -- "$place")" ]; then
  [ "$(git config --file "$place/config" maestro.exchange </dev/null 2>/dev/null)" = 1 ] || answer foreign
elif [ -e "$place" ] && [ ! -d "$place" ]; then
  answer foreign
elif [ "$task" = check ]; then
  answer absent
else
  # Only its owner reads an exchange: it has the files of every project that uses it.
  said=$(exec 2>&1; umask 077 && mkdir -p -- "$place" && chmod 700 -- "$place" && git init --quiet --bare --template= -- "$place" </dev/null) || {
    say "fault $(printf '%s' "$said" | tr '\\n' ' ')"
    answer failed
  }
  created=1
fi
cd -- "$place" || answer failed
place=$(pwd)
setting() {
  if [ -z "$created" ]; then
    [ "$(git config --file config "$1" </dev/null 2>/dev/null)" = "$2" ] && return
    fault "$1 is not $2"
  fi
  [ "$task" = check ] || git config --file config "$1" "$2" </dev/null || answer failed
}`,R=`
mkdir -p hooks
hook=\${TMPDIR:-/tmp}/maestro-hook.$$
[ "$task" = check ] || hook=hooks/update.$$
trap 'rm -f -- "$hook"' EXIT
cat >"$hook" <<'END_OF_HOOK'
${M}END_OF_HOOK
if ! cmp -s -- "$hook" hooks/update; then
  [ -n "$created" ] || fault "its update hook is not this version's"
  [ "$task" = check ] || { chmod 755 -- "$hook" && mv -f -- "$hook" hooks/update || answer failed; }
elif [ ! -x hooks/update ]; then
  fault "its update hook cannot be executed"
  [ "$task" = check ] || chmod 755 hooks/update || answer failed
fi`,G=`
[ -n "$created" ] && answer created
[ -z "$found" ] && answer current
[ "$task" = check ] && answer stale
answer repaired
`;function D(e){let t=e.split(`
`).flatMap(r=>{let o=r.indexOf(w);return o===-1?[]:[r.slice(o+w.length+1)]}),[a,n]=["state ","path "].map(r=>t.find(o=>o.startsWith(r))?.slice(r.length)),s=["created","current","repaired","stale","absent","foreign","failed"].find(r=>r===a);if(s===void 0||n===void 0)return;let h=t.filter(r=>r.startsWith("fault ")).map(r=>r.slice(6));return{state:s,path:n,faults:h}}function W(e){if(e.startsWith("/"))return{path:e};if(e.startsWith("file://"))return{path:e.slice(7)};let[,t="",a,n=""]=/^ssh:\/\/([^/:]+|[^/]*\])(?::(\d+))?(\/.+)$/.exec(e)??[];if(t!==""){let h=a===void 0?[]:["-p",a];return{path:n.replace(/^\/(?=~)/,""),ssh:[...h,"--",t.replace(/[[\]]/g,"")]}}let s=e.indexOf(":",e.indexOf("]")+1);return{path:e.slice(s+1),ssh:["--",e.slice(0,s).replace(/[[\]]/g,"")]}}var v=64*1024,F=60;function L(e,{ssh:t},a){let[n="sh",...s]=t===void 0?["sh"]:U(e.env),h=[...s,...t===void 0?["-s"]:[...t,"sh -s"]],r=(0,b.spawn)(n,h,{env:z(e.env),stdio:"pipe",timeout:F*1e3}),o="",f="";return r.stdout.setEncoding("utf8").on("data",l=>o=(o+l).slice(0,v)),r.stderr.setEncoding("utf8").on("data",l=>f=(f+l).slice(0,v)),new Promise((l,$)=>{r.once("error",u=>{$(new i.a("environment",`Cannot start ${n}: ${(0,i.c)(u)}`,{cause:u}))}),r.once("close",u=>l({code:u,stdout:o,stderr:f})),r.stdin.on("error",()=>{}),r.stdin.end(a)})}function U(e){let t=(0,y.a)(e.GIT_SSH_COMMAND??"");if("error"in t)throw new i.a("config",`GIT_SSH_COMMAND cannot be read: ${t.error}`);return t.length>0?t:["ssh","-oBatchMode=yes","-oConnectTimeout=15"]}function z(e){let t=["HOME","USER","LOGNAME","TMPDIR","SSH_AUTH_SOCK"].flatMap(a=>e[a]===void 0?[]:[[a,e[a]]]);return{...Object.fromEntries(t),PATH:(0,O.b)(e.PATH)}}async function A(e,t,a){let n=q(e,t),{state:s,path:h,faults:r}=await k(e,"init",n);if(s==="foreign")throw new i.a("environment",`${(0,c.f)(h)} is not an exchange: it has files of something else`,{hint:"Choose a directory that does not exist or is empty."});if(s==="failed")throw new i.a("environment",`Cannot create the exchange ${(0,c.f)(n)}: ${B(r)}`,{hint:"Check that you may create the directory there."});return a.json?(0,x.a)(e,{exchange:n,path:h,state:s,repaired:s==="repaired"?r:[]}):e.out(`${K(n,s,r).join(`
`)}
`),0}function K(e,t,a){if(t==="current")return[`${(0,c.f)(e)} is an exchange, and its hook and settings are current.`];if(t==="repaired")return[`Repaired the exchange ${(0,c.f)(e)}:`,...a.map(s=>`  ${s}`)];let n=(0,i.h)((0,c.f)(e));return[`Created the exchange ${(0,c.f)(e)}`,`  engine:  maestro run <plan> --workers redis://<host> --exchange ${n}`,`  workers: maestro worker --queue redis://<host> --exchange ${n}`]}function q(e,t){if((0,d.d)(t))throw new i.a("usage","The address of the exchange must not contain a password",{hint:"Use a key: ssh-copy-id, or an entry in ~/.ssh/config."});let a=!t.includes(":")&&!t.startsWith("-")&&t!=="",n=(0,d.e)(a?(0,T.resolve)(e.cwd,t):t);if(n!==void 0)return n;throw new i.a("usage",`${JSON.stringify((0,c.f)(t))} is not ${d.b}`,{hint:"For example: maestro exchange init git@host:maestro.git"})}async function k(e,t,a){let n=W(a),{code:s,stdout:h,stderr:r}=await L(e,n,N(t,n.path)),o=D(h);if(o!==void 0)return o;let f=(0,c.f)(r.trim().split(`
`).at(-1)??""),l=f===""?`the shell there ended with ${s??"a signal"}`:f;throw new i.a("environment",`Cannot reach the exchange ${(0,c.f)(a)}: ${l}`,{hint:n.ssh===void 0?"Check the path and its owner.":`Check the connection with "ssh ${n.ssh.filter($=>$!=="--").join(" ")} true". An account that may only run git cannot be set up from here: run "maestro exchange init" on that machine.`})}function B(e){return(0,c.f)(e.join("; ")).trim()||"it cannot be written"}0&&(module.exports={a,b});
});
