#!/usr/bin/env node
var r=Object.defineProperty;var e=Object.getOwnPropertyDescriptor;var g=Object.getOwnPropertyNames;var b=Object.prototype.hasOwnProperty;var c=(i,n)=>{for(var o in n)r(i,o,{get:n[o],enumerable:!0})},l=(i,n,o,u)=>{if(n&&typeof n=="object"||typeof n=="function")for(let t of g(n))!b.call(i,t)&&t!==o&&r(i,t,{get:()=>n[t],enumerable:!(u=e(n,t))||u.enumerable});return i};var m=i=>l(r({},"__esModule",{value:!0}),i);var p={};c(p,{a:()=>f,b:()=>a});module.exports=m(p);var s=require("./maestro-chunk-GA46E44O.js");function f(i,n){i.out(`${(0,s.g)(JSON.stringify(n,null,2))}
`)}function a(i,n){i.out(`${(0,s.g)(JSON.stringify(n))}
`)}0&&(module.exports={a,b});
