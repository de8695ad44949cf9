#!/usr/bin/env node
const __late=(id)=>new Proxy({},{get:(_,name)=>require(id)[name]});var p=Object.defineProperty;var _=Object.getOwnPropertyDescriptor;var C=Object.getOwnPropertyNames;var E=Object.prototype.hasOwnProperty;var H=(e,t)=>{for(var a in t)p(e,a,{get:t[a],enumerable:!0})},j=(e,t,a,n)=>{if(t&&typeof t=="object"||typeof t=="function")for(let s of C(t))!E.call(e,s)&&s!==a&&p(e,s,{get:()=>t[s],enumerable:!(n=_(t,s))||n.enumerable});return e};var I=e=>j(p({},"__esModule",{value:!0}),e);var J={};H(J,{a:()=>A,b:()=>k});module.exports=I(J);var f=require("./maestro-main-3EF5A178.js")("maestro-chunk-5CC6XS2Q.js"),x=require("./maestro-common-119E16F9.js")("maestro-chunk-OIB2VZB3.js"),y=require("./maestro-common-119E16F9.js")("maestro-chunk-JGV44D7Q.js"),i=require("./maestro-common-119E16F9.js")("maestro-chunk-PX6ELEN6.js"),O=require("./maestro-main-3EF5A178.js")("maestro-chunk-OYOUZEKO.js"),h=require("./maestro-main-3EF5A178.js")("maestro-chunk-GA46E44O.js"),T=require("node:path"),b=__late("node:child_process"),m="refs/maestro-exchange",M=`#!/bin/sh
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
  said=$(umask 077 && mkdir -p -- "$place" && chmod 700 -- "$place" && git init --quiet --bare --template= -- "$place" </dev/null 2>&1) || {
    say "fault $(printf '%s' "$said" | tr '\\n' ' ')"
    answer failed
  }
  created=1
fi
cd -- "$place" || answer failed
place=$(pwd)
setting() {
  [ "$(git config --file config "$1" </dev/null 2>/dev/null)" = "$2" ] && return
  [ -n "$created" ] || fault "$1 is not $2"
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
`).flatMap(r=>{let o=r.indexOf(w);return o===-1?[]:[r.slice(o+w.length+1)]}),[a,n]=["state ","path "].map(r=>t.find(o=>o.startsWith(r))?.slice(r.length)),s=["created","current","repaired","stale","absent","foreign","failed"].find(r=>r===a);if(s===void 0||n===void 0)return;let c=t.filter(r=>r.startsWith("fault ")).map(r=>r.slice(6));return{state:s,path:n,faults:c}}function W(e){if(e.startsWith("/"))return{path:e};if(e.startsWith("file://"))return{path:e.slice(7)};let[,t="",a,n=""]=/^ssh:\/\/([^/:]+|[^/]*\])(?::(\d+))?(\/.+)$/.exec(e)??[];if(t!==""){let c=a===void 0?[]:["-p",a];return{path:n.replace(/^\/(?=~)/,""),ssh:[...c,"--",t.replace(/[[\]]/g,"")]}}let s=e.indexOf(":",e.indexOf("]")+1);return{path:e.slice(s+1),ssh:["--",e.slice(0,s).replace(/[[\]]/g,"")]}}var v=64*1024,F=60;function L(e,{ssh:t},a){let[n="sh",...s]=t===void 0?["sh"]:U(e.env),c=[...s,...t===void 0?["-s"]:[...t,"sh -s"]],r=(0,b.spawn)(n,c,{env:K(e.env),stdio:"pipe",timeout:F*1e3}),o="",d="";return r.stdout.setEncoding("utf8").on("data",l=>o=(o+l).slice(0,v)),r.stderr.setEncoding("utf8").on("data",l=>d=(d+l).slice(0,v)),new Promise((l,$)=>{r.once("error",u=>{$(new h.a("environment",`Cannot start ${n}: ${(0,h.c)(u)}`,{cause:u}))}),r.once("close",u=>l({code:u,stdout:o,stderr:d})),r.stdin.on("error",()=>{}),r.stdin.end(a)})}function U(e){let t=(0,y.a)(e.GIT_SSH_COMMAND??"");if("error"in t)throw new h.a("config",`GIT_SSH_COMMAND cannot be read: ${t.error}`);return t.length>0?t:["ssh","-oBatchMode=yes","-oConnectTimeout=15"]}function K(e){let t=["HOME","USER","LOGNAME","TMPDIR","SSH_AUTH_SOCK"].flatMap(a=>e[a]===void 0?[]:[[a,e[a]]]);return{...Object.fromEntries(t),PATH:(0,O.b)(e.PATH)}}async function A(e,t,a){let n=q(e,t),{state:s,path:c,faults:r}=await k(e,"init",n);if(s==="foreign")throw new h.a("environment",`${(0,i.f)(c)} is not an exchange: it has files of something else`,{hint:"Choose a directory that does not exist or is empty."});if(s==="failed")throw new h.a("environment",`Cannot create the exchange ${(0,i.f)(n)}: ${B(r)}`,{hint:"Check that you may create the directory there."});return a.json?(0,x.a)(e,{exchange:n,path:c,state:s,repaired:s==="repaired"?r:[]}):e.out(`${z(n,s,r).join(`
`)}
`),0}function z(e,t,a){return t==="current"?[`${(0,i.f)(e)} is an exchange, and its hook and settings are current.`]:t==="repaired"?[`Repaired the exchange ${(0,i.f)(e)}:`,...a.map(n=>`  ${n}`)]:[`Created the exchange ${(0,i.f)(e)}`,`  engine:  maestro run <plan> --workers redis://<host> --exchange ${(0,i.f)(e)}`,`  workers: maestro worker --queue redis://<host> --exchange ${(0,i.f)(e)}`]}function q(e,t){if((0,f.d)(t))throw new h.a("usage","The address of the exchange must not contain a password",{hint:"Use a key: ssh-copy-id, or an entry in ~/.ssh/config."});let a=!t.includes(":")&&!t.startsWith("-")&&t!=="",n=(0,f.e)(a?(0,T.resolve)(e.cwd,t):t);if(n!==void 0)return n;throw new h.a("usage",`${JSON.stringify((0,i.f)(t))} is not ${f.b}`,{hint:"For example: maestro exchange init git@host:maestro.git"})}async function k(e,t,a){let n=W(a),{code:s,stdout:c,stderr:r}=await L(e,n,N(t,n.path)),o=D(c);if(o!==void 0)return o;let d=(0,i.f)(r.trim().split(`
`).at(-1)??""),l=d===""?`the shell there ended with ${s??"a signal"}`:d;throw new h.a("environment",`Cannot reach the exchange ${(0,i.f)(a)}: ${l}`,{hint:n.ssh===void 0?"Check the path and its owner.":`Check the connection with "ssh ${n.ssh.filter($=>$!=="--").join(" ")} true". An account that may only run git cannot be set up from here: run "maestro exchange init" on that machine.`})}function B(e){return e.length===0?"it cannot be written":(0,i.f)(e.join("; "))}0&&(module.exports={a,b});
