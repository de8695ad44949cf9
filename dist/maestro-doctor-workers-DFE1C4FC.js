const __made={},__make={},__part=module.exports=name=>{let made=__made[name];if(made===undefined){made=__made[name]={exports:{}};__make[name](made.exports,made)}return made.exports};
__make["maestro-doctor-workers-4ZBBPMEB.js"]=(function(exports,module){var h=Object.defineProperty;var g=Object.getOwnPropertyDescriptor;var k=Object.getOwnPropertyNames;var T=Object.prototype.hasOwnProperty;var $=(t,e)=>{for(var r in e)h(t,r,{get:e[r],enumerable:!0})},q=(t,e,r,i)=>{if(e&&typeof e=="object"||typeof e=="function")for(let n of k(e))!T.call(t,n)&&n!==r&&h(t,n,{get:()=>e[n],enumerable:!(i=g(e,n))||i.enumerable});return t};var b=t=>q(h({},"__esModule",{value:!0}),t);var I={};$(I,{checkWorkers:()=>v});module.exports=b(I);var o=require("./maestro-chunk-NN3ZMWTM.js"),f=__part("maestro-chunk-UKPJ3US2.js"),C=require("./maestro-common-A9F85C2C.js")("maestro-chunk-ZXZNR4JG.js"),F=require("./maestro-main-90847F60.js")("maestro-chunk-RRFWGG72.js"),Q=require("./maestro-main-90847F60.js")("maestro-chunk-XGCNG5KR.js"),U=require("./maestro-common-A9F85C2C.js")("maestro-chunk-HYT2CZZN.js"),z=require("./maestro-common-A9F85C2C.js")("maestro-chunk-ZVWR3RHP.js"),B=require("./maestro-common-A9F85C2C.js")("maestro-chunk-JGV44D7Q.js"),H=require("./maestro-main-90847F60.js")("maestro-chunk-DYZ5S3MU.js"),K=require("./maestro-main-90847F60.js")("maestro-chunk-YIVZISAC.js"),D=require("./maestro-main-90847F60.js")("maestro-chunk-VM6VA2QP.js"),w=require("./maestro-chunk-ZCY3UNEC.js"),J=require("./maestro-common-A9F85C2C.js")("maestro-chunk-HMSV2P66.js"),X=require("./maestro-common-A9F85C2C.js")("maestro-chunk-4DHYUMZ3.js"),Y=require("./maestro-common-A9F85C2C.js")("maestro-chunk-G7R7VMS5.js"),Z=require("./maestro-common-A9F85C2C.js")("maestro-chunk-4AYZWWQS.js"),ee=require("./maestro-common-A9F85C2C.js")("maestro-chunk-BO4J4AH7.js"),te=require("./maestro-common-A9F85C2C.js")("maestro-chunk-QCVKGCOT.js"),re=require("./maestro-common-A9F85C2C.js")("maestro-chunk-2N2PTRT2.js"),ie=require("./maestro-common-A9F85C2C.js")("maestro-chunk-JRHIR6CK.js"),ne=require("./maestro-common-A9F85C2C.js")("maestro-chunk-C4Y6XVZQ.js"),se=require("./maestro-common-A9F85C2C.js")("maestro-chunk-B2JLUY7U.js"),ae=require("./maestro-common-A9F85C2C.js")("maestro-chunk-77F5FWC7.js"),oe=require("./maestro-common-A9F85C2C.js")("maestro-chunk-CDOV66IB.js"),le=require("./maestro-common-A9F85C2C.js")("maestro-chunk-XBONBYRA.js"),ue=require("./maestro-main-90847F60.js")("maestro-chunk-Q4FMOR3D.js"),ce=require("./maestro-common-A9F85C2C.js")("maestro-chunk-46V3NYHQ.js"),me=require("./maestro-main-90847F60.js")("maestro-chunk-CHDPHN2Z.js"),he=require("./maestro-common-A9F85C2C.js")("maestro-chunk-MYHB3KYR.js"),y=require("./maestro-common-A9F85C2C.js")("maestro-chunk-FAFQMVAS.js"),pe=require("./maestro-common-A9F85C2C.js")("maestro-chunk-AZURIOCY.js"),de=require("./maestro-common-A9F85C2C.js")("maestro-chunk-5K63VKGH.js"),fe=require("./maestro-main-90847F60.js")("maestro-chunk-NAYVMHJZ.js"),we=require("./maestro-main-90847F60.js")("maestro-chunk-TWTNOMT4.js"),ye=require("./maestro-main-90847F60.js")("maestro-chunk-4LMHVSA7.js"),ve=require("./maestro-main-90847F60.js")("maestro-chunk-VK7BHCFY.js"),ge=require("./maestro-main-90847F60.js")("maestro-chunk-PBFUFKBY.js"),ke=require("./maestro-main-90847F60.js")("maestro-chunk-TNSLOWBN.js"),Te=require("./maestro-main-90847F60.js")("maestro-chunk-2URIIGSV.js"),l=require("./maestro-main-90847F60.js")("maestro-chunk-S7VK7MGK.js"),$e=require("./maestro-chunk-LG7K7YQS.js"),p=[6,2],x=2e3;function S(t){let{info:e}=t;return[...e===null?[{check:"queue",level:"warn",message:"The queue does not report its version, persistence and eviction policy",hint:"Let its user run INFO: ACL SETUSER <user> +info"}]:[E(e),A(e,t.saves),M(e)],O(t),N(t),W(t)]}function s(t,e,r){return{check:"queue",level:t,message:e,...r===void 0?{}:{hint:r}}}function E(t){let e=t.valkey_version===void 0?"Redis":"Valkey",r=t.valkey_version??t.redis_version??"",[i=0,n=0]=r.split(".").map(Number);return i<(p[0]??0)||i===p[0]&&n<(p[1]??0)?s("fail",`${e} ${r} is too old for the queue`,"Install Redis 6.2 or newer, or Valkey."):s("ok",`Queue: ${e} ${r}`)}function A(t,e){if(t.aof_enabled==="1")return s("ok","The queue writes every change to disk (appendonly)");let r="Set it in redis.conf: appendonly yes";return e===!1?s("warn","The queue loses everything when its server restarts",r):s("warn","The queue may lose the last minutes when its server restarts",r)}function M(t){let e=t.maxmemory_policy??"unknown";if(e==="noeviction")return s("ok","The queue drops nothing when its memory is full (noeviction)");let r=(t.maxmemory??"0")!=="0",i=`The queue may drop attempts when its memory is full (maxmemory-policy ${e})`;return s(r?"fail":"warn",i,"Set it in redis.conf: maxmemory-policy noeviction")}var R=/^-?(?:127\.[\d.]+|::1|localhost)$/;function O({bind:t,url:e,hasPassword:r}){let i="Bind it to 127.0.0.1 and reach it through ssh or WireGuard, or use rediss:// with a password.";if(t===null)return s("warn","The queue does not report the addresses that it listens on",i);let n=t.filter(u=>!R.test(u));if(t.length>0&&n.length===0)return s("ok","The queue listens only on this machine");let a=n.length===0?"every address":n.join(" ");return r?e.startsWith("rediss:")?s("ok",`The queue listens on ${a}, with a password and TLS`):s("warn",`The queue listens on ${a}, and the password travels unencrypted`,i):s("fail",`The queue listens on ${a} and requires no password: other users can stop attempts`,i)}function N({user:t,hasPassword:e,readsAll:r}){let i="ACL SETUSER maestro on ><password> ~maestro:* &maestro:* +@all -@dangerous -@admin +info";if(!r)return s("ok",`The queue's user ${t??"of this machine"} can access only Maestro's keys`);let n=e?`The queue's user ${t??"default"}`:"Without a password, every program that reaches the queue";return s("warn",`${n} can access every key of the server`,i)}function W({clockMs:t}){let e=Math.abs(t);if(e<=x)return s("ok","The clocks of the queue and of this machine agree");let r=t>0?"ahead of":"behind",i=`The queue's clock is ${(0,y.a)(e)} ${r} this machine's`;return s("warn",i,"Synchronise both: timedatectl set-ntp true")}async function v(t,e){let r=()=>(0,o.a)(t,e,{given:void 0,option:"MAESTRO_WORKERS"});return[...await d("workers",async()=>((0,o.c)(e),(0,o.d)(e),[{check:"workers",level:"ok",message:"The worker key is set and long enough"}])),...await d("queue",async()=>{let i=r();return i===void 0?[]:S(await P(t,i))}),...await d("exchange",()=>_(t,(0,o.b)(t,e,{})))]}async function d(t,e){try{return await e()}catch(r){if(!(r instanceof l.a))throw r;return[{check:t,level:"fail",message:r.message,...r.hint===void 0?{}:{hint:r.hint}}]}}async function _(t,e){let{state:r,faults:i}=await(0,f.b)(t,"check",e),n=`"maestro exchange init ${(0,l.h)(e)}" ${r==="absent"?"creates":"repairs"} it.`,a="exchange";if(r==="current")return[{check:a,level:"ok",message:`The exchange ${e} and its hook are current`}];if(r==="stale")return[{check:a,level:"fail",message:`The exchange ${e} needs to be repaired: ${i.join("; ")}`,hint:n}];if(r==="absent")return[{check:a,level:"fail",message:`The exchange ${e} does not exist`,hint:n}];let u=r==="foreign"?"is not an exchange":`cannot be read: ${i.join("; ")}`;return[{check:a,level:"fail",message:`${e} ${u}`}]}async function P(t,e){let r=await(0,w.b)(e,()=>{});try{let i=t.now().getTime(),[n,a]=await r.time(),u=(i+t.now().getTime())/2,m=await c(()=>r.info());return{url:e.url,info:m===null?null:j(m),bind:await L(r,m),saves:await G(r),user:await c(async()=>String(await r.acl("WHOAMI"))),hasPassword:e.password!==void 0,readsAll:await c(()=>r.exists("not-of-maestro"))!==null,clockMs:Math.round(Number(n)*1e3+Number(a)/1e3-u)}}finally{r.disconnect()}}async function c(t){try{return await t()}catch(e){if(/NOPERM|unknown command/i.test((0,l.c)(e)))return null;throw e}}function j(t){let e=[...t.matchAll(/^([a-z]\w*):(.*?)\r?$/gm)].map(([,r="",i=""])=>[r,i]);return Object.fromEntries(e)}async function L(t,e){let r=[...(e??"").matchAll(/^listener\d+:name=(?:tcp|tls),(.*)$/gm)].flatMap(([,n=""])=>[...n.matchAll(/bind=([^,\r\n]+)/g)].map(([,a=""])=>a));if(r.length>0)return r;let i=await c(async()=>await t.config("GET","bind"));return i===null?null:(i[1]??"").split(" ").filter(n=>n!=="")}async function G(t){let e=await c(async()=>await t.config("GET","save"));return e===null?null:(e[1]??"")!==""}0&&(module.exports={checkWorkers});
});
__make["maestro-chunk-UKPJ3US2.js"]=(function(exports,module){const __late=(id)=>new Proxy({},{get:(_,name)=>require(id)[name]});var p=Object.defineProperty;var C=Object.getOwnPropertyDescriptor;var E=Object.getOwnPropertyNames;var H=Object.prototype.hasOwnProperty;var j=(e,t)=>{for(var n in t)p(e,n,{get:t[n],enumerable:!0})},I=(e,t,n,a)=>{if(t&&typeof t=="object"||typeof t=="function")for(let r of E(t))!H.call(e,r)&&r!==n&&p(e,r,{get:()=>t[r],enumerable:!(a=C(t,r))||a.enumerable});return e};var M=e=>I(p({},"__esModule",{value:!0}),e);var J={};j(J,{a:()=>b,b:()=>k});module.exports=M(J);var x=require("./maestro-common-A9F85C2C.js")("maestro-chunk-ZXZNR4JG.js"),d=require("./maestro-main-90847F60.js")("maestro-chunk-XGCNG5KR.js"),y=require("./maestro-common-A9F85C2C.js")("maestro-chunk-ZVWR3RHP.js"),O=require("./maestro-common-A9F85C2C.js")("maestro-chunk-JGV44D7Q.js"),h=require("./maestro-common-A9F85C2C.js")("maestro-chunk-QCVKGCOT.js"),T=require("./maestro-main-90847F60.js")("maestro-chunk-2URIIGSV.js"),o=require("./maestro-main-90847F60.js")("maestro-chunk-S7VK7MGK.js"),A=require("node:path"),_=__late("node:child_process"),m="refs/maestro-exchange",S=`#!/bin/sh
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
`,N=[["maestro.exchange","1"],["core.hooksPath","hooks"],["core.logAllRefUpdates","false"],["receive.fsckObjects","true"],["receive.maxInputSize","1g"],["receive.denyDeletes","false"],["receive.denyNonFastForwards","false"],["gc.pruneExpire","2.weeks.ago"],["uploadpack.allowTipSHA1InWant","true"]];function P(e,t){return[`task=${e}`,`place=${g(t)}`,R,...N.map(([n,a])=>`setting ${g(n)} ${g(a)}`),G,D].join(`
`)}function g(e){return`'${e.replaceAll("'","'\\''")}'`}var w="maestro-exchange:",R=`
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
}`,G=`
mkdir -p hooks
hook=\${TMPDIR:-/tmp}/maestro-hook.$$
[ "$task" = check ] || hook=hooks/update.$$
trap 'rm -f -- "$hook"' EXIT
cat >"$hook" <<'END_OF_HOOK'
${S}END_OF_HOOK
if ! cmp -s -- "$hook" hooks/update; then
  [ -n "$created" ] || fault "its update hook is not this version's"
  [ "$task" = check ] || { chmod 755 -- "$hook" && mv -f -- "$hook" hooks/update || answer failed; }
elif [ ! -x hooks/update ]; then
  fault "its update hook cannot be executed"
  [ "$task" = check ] || chmod 755 hooks/update || answer failed
fi`,D=`
[ -n "$created" ] && answer created
[ -z "$found" ] && answer current
[ "$task" = check ] && answer stale
answer repaired
`;function W(e){let t=e.split(`
`).flatMap(i=>{let c=i.indexOf(w);return c===-1?[]:[i.slice(c+w.length+1)]}),[n,a]=["state ","path "].map(i=>t.find(c=>c.startsWith(i))?.slice(i.length)),r=["created","current","repaired","stale","absent","foreign","failed"].find(i=>i===n);if(r===void 0||a===void 0)return;let s=t.filter(i=>i.startsWith("fault ")).map(i=>i.slice(6));return{state:r,path:a,faults:s}}function F(e){if(e.startsWith("/"))return{path:e};if(e.startsWith("file://"))return{path:e.slice(7)};let[,t="",n,a=""]=/^ssh:\/\/([^/:]+|[^/]*\])(?::(\d+))?(\/.+)$/.exec(e)??[];if(t!==""){let s=n===void 0?[]:["-p",n];return{path:a.replace(/^\/(?=~)/,""),ssh:[...s,"--",t.replace(/[[\]]/g,"")]}}let r=e.indexOf(":",e.indexOf("]")+1);return{path:e.slice(r+1),ssh:["--",e.slice(0,r).replace(/[[\]]/g,"")]}}var v=64*1024,L=60;function U(e,{ssh:t},n){let[a="sh",...r]=t===void 0?["sh"]:z(e.env),s=[...r,...t===void 0?["-s"]:[...t,"sh -s"]],i=(0,_.spawn)(a,s,{env:K(e.env),stdio:"pipe",timeout:L*1e3}),c="",f="";return i.stdout.setEncoding("utf8").on("data",l=>c=(c+l).slice(0,v)),i.stderr.setEncoding("utf8").on("data",l=>f=(f+l).slice(0,v)),new Promise((l,$)=>{i.once("error",u=>{$(new o.a("environment",`Cannot start ${a}: ${(0,o.c)(u)}`,{cause:u}))}),i.once("close",u=>l({code:u,stdout:c,stderr:f})),i.stdin.on("error",()=>{}),i.stdin.end(n)})}function z(e){let t=(0,O.a)(e.GIT_SSH_COMMAND??"");if("error"in t)throw new o.a("config",`GIT_SSH_COMMAND cannot be read: ${t.error}`);return t.length>0?t:["ssh","-oBatchMode=yes","-oConnectTimeout=15"]}function K(e){let t=["HOME","USER","LOGNAME","TMPDIR","SSH_AUTH_SOCK"].flatMap(n=>e[n]===void 0?[]:[[n,e[n]]]);return{...Object.fromEntries(t),PATH:(0,T.l)(e.PATH)}}async function b(e,t,n){let a=X(e,t),{state:r,path:s,faults:i}=await k(e,"init",a);if(r==="foreign")throw new o.a("environment",`${(0,h.f)(s)} is not an exchange: it contains other files`,{hint:"Choose a directory that does not exist or is empty."});if(r==="failed")throw new o.a("environment",`Cannot create the exchange ${(0,h.f)(a)}: ${B(i)}`,{hint:"Check that you may create the directory there."});return n.json?(0,y.a)(e,{exchange:a,path:s,state:r,repaired:r==="repaired"?i:[]}):e.out(`${q((0,x.y)(e),a,r,i).join(`
`)}
`),0}function q(e,t,n,a){if(n==="current")return[`${(0,h.f)(t)} is an exchange, and its hook and settings are current.`];if(n==="repaired")return[`Repaired the exchange ${(0,h.f)(t)}:`,...a.map(s=>`  ${s}`)];let r=(0,o.h)((0,h.f)(t));return[`Created the exchange ${(0,h.f)(t)}`,`  engine:  ${e} run <plan> --workers redis://<host> --exchange ${r}`,`  workers: maestro worker --queue redis://<host> --exchange ${r}`]}function X(e,t){if((0,d.e)(t))throw new o.a("usage","The address of the exchange must not contain a password",{hint:"Use a key: ssh-copy-id, or an entry in ~/.ssh/config."});let n=!t.includes(":")&&!t.startsWith("-")&&t!=="",a=(0,d.f)(n?(0,A.resolve)(e.cwd,t):t);if(a!==void 0)return a;throw new o.a("usage",`${JSON.stringify((0,h.f)(t))} is not ${d.c}`,{hint:'For example: "maestro exchange init git@host:maestro.git".'})}async function k(e,t,n){let a=F(n),{code:r,stdout:s,stderr:i}=await U(e,a,P(t,a.path)),c=W(s);if(c!==void 0)return c;let f=(0,h.f)(i.trim().split(`
`).at(-1)??""),l=f===""?`the remote shell exited with ${r??"a signal"}`:f;throw new o.a("environment",`Cannot reach the exchange ${(0,h.f)(n)}: ${l}`,{hint:a.ssh===void 0?"Check the path and its owner.":`Check the connection with "ssh ${a.ssh.filter($=>$!=="--").join(" ")} true". An account that may only run git cannot be set up from here: run "maestro exchange init" on that machine.`})}function B(e){return(0,h.f)(e.join("; ")).trim()||"it cannot be written"}0&&(module.exports={a,b});
});
