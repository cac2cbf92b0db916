"""How the page of a report looks: light or dark, on a phone, and printed."""

_LIGHT = """--ink:#1c2430;--soft:#5a6675;--line:#dfe4ea;--paper:#fff;--card:#f5f7fa;
--main:#1f5fbf;--band:#1f5fbf2e;--good:#1a7a43;--unsure:#9a6200;--bad:#b3261e;
color-scheme:light"""
_DARK = """--ink:#e4e8ee;--soft:#9aa6b4;--line:#333c48;--paper:#14181e;--card:#1c222a;
--main:#7fb0ff;--band:#7fb0ff33;--good:#6fcf97;--unsure:#f2b84b;--bad:#ff8a80;
color-scheme:dark"""

# JupyterLab and VS Code have a theme of their own, which need not be the system's.
_THEMES = f"""
.ase-report{{{_LIGHT}}}
@media (prefers-color-scheme:dark){{.ase-report{{{_DARK}}}}}
:where([data-jp-theme-light=true],.vscode-light) .ase-report{{{_LIGHT}}}
:where([data-jp-theme-light=false],.vscode-dark) .ase-report{{{_DARK}}}"""

_LOOKS = """
.ase-report{color:var(--ink);background:var(--paper);
font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;
box-sizing:border-box;max-width:56rem;margin:0 auto;padding:2.5rem 1.5rem 3rem;
text-align:left;overflow-wrap:anywhere}
.ase-report *{box-sizing:border-box}
.ase-report h1{font-size:1.9rem;line-height:1.2;margin:0 0 .3rem;
letter-spacing:-.015em;color:inherit}
.ase-report h2{font-size:1.2rem;line-height:1.3;margin:2.6rem 0 .8rem;
padding-top:1rem;border-top:1px solid var(--line);color:inherit}
.ase-report p{margin:.7rem 0;max-width:44rem}
.ase-report .made{color:var(--soft);margin:0 0 1.6rem;font-size:.9rem}
.ase-report section:first-of-type h2{position:absolute;width:1px;height:1px;
overflow:hidden;clip-path:inset(50%);margin:0;padding:0;border:0}
.ase-report .card{background:var(--card);border:1px solid var(--line);
border-radius:12px;padding:1.3rem 1.5rem 1rem;margin:0 0 1rem}
.ase-report .name{color:var(--soft);font-weight:600}
.ase-report .value{font-size:3.4rem;line-height:1.15;font-weight:700;
letter-spacing:-.03em;font-variant-numeric:tabular-nums;margin-right:.9rem}
.ase-report .interval{display:inline-block;font-size:1.1rem;
font-variant-numeric:tabular-nums}
.ase-report figure{margin:0}
.ase-report .key{color:var(--soft);font-size:.85rem;margin:.2rem 0 0}
.ase-report .key i{display:inline-block;vertical-align:middle;width:1.6rem;
margin:0 .4rem 0 0;border-top:2px solid var(--main)}
.ase-report .key i.k-thick{border-top-width:8px;border-radius:4px}
.ase-report .key i.k-band{border-top:.8rem solid var(--band)}
.ase-report .key i.k-ends{border-top-style:dashed;border-top-width:1.5px}
.ase-report .key i.k-refit{width:0;height:.6rem;border:0;
border-left:2px solid var(--soft)}
.ase-report .key span{margin-right:1.2rem;display:inline-block}
.ase-report svg{display:block;overflow:visible}
.ase-report svg text{fill:var(--soft);font-size:12px;font-family:inherit;
font-variant-numeric:tabular-nums;paint-order:stroke;stroke:var(--paper);
stroke-width:3px}
.ase-report .card svg text{stroke:var(--card)}
.ase-report svg .centre{text-anchor:middle}
.ase-report svg .axis{stroke:var(--soft)}
.ase-report svg .grid{stroke:var(--line)}
.ase-report svg .thin{stroke:var(--main);stroke-width:2}
.ase-report svg .thick{stroke:var(--main);stroke-width:8;stroke-linecap:round;
opacity:.55}
.ase-report svg .whisker{stroke:var(--main);stroke-width:2}
.ase-report svg .mark{stroke:var(--soft);stroke-dasharray:2 2}
.ase-report svg .refit{stroke:var(--soft);stroke-width:2}
.ase-report svg .dot{fill:var(--main);stroke:var(--paper);stroke-width:1.5}
.ase-report svg .open{fill:none;stroke:var(--main);stroke-width:1.5}
.ase-report svg .band{fill:var(--band)}
.ase-report svg .line,.ase-report svg .ends{fill:none;stroke:var(--main);
stroke-width:2;stroke-linejoin:round;vector-effect:non-scaling-stroke}
.ase-report svg .ends{stroke-width:1.3;stroke-dasharray:4 4;opacity:.8}
.ase-report .scroll{overflow-x:auto;margin:1rem 0}
.ase-report table{border-collapse:collapse;table-layout:auto;width:100%;margin:0;
font-size:.92rem;color:inherit;background:none;border:0}
.ase-report tr{background:none}
.ase-report th,.ase-report td{padding:.45rem .8rem .45rem 0;text-align:left;
vertical-align:top;border:0;border-bottom:1px solid var(--line);min-width:3.5rem;
max-width:24rem;white-space:normal;overflow-wrap:break-word}
.ase-report th{color:var(--soft);font-weight:600;font-size:.85rem;
vertical-align:bottom}
.ase-report tbody th{vertical-align:top;color:inherit;font-size:inherit}
.ase-report .n{font-variant-numeric:tabular-nums}
.ase-report td.n,.ase-report td.short{white-space:nowrap}
.ase-report th.n:not(.drawn),.ase-report td.n:not(.drawn){text-align:right}
.ase-report .drawn{min-width:9.5rem;width:40%}
.ase-report dl{margin:1rem 0;display:grid;
grid-template-columns:minmax(9rem,15rem) 1fr;font-size:.95rem}
.ase-report dt,.ase-report dd{padding:.4rem 0;margin:0;float:none;width:auto;
border-bottom:1px solid var(--line)}
.ase-report dt{color:var(--soft);padding-right:1rem;font-weight:400}
.ase-report ul{padding-left:1.2rem;margin:.8rem 0}
.ase-report li{margin:.35rem 0;max-width:44rem}
.ase-report .missing{border-left:3px solid var(--unsure);padding:.2rem 0 .2rem .9rem}
.ase-report .verdict{border-left:4px solid var(--tone);background:var(--card);
border-radius:0 8px 8px 0;padding:.8rem 1.1rem}
.ase-report .verdict b{color:var(--tone)}
.ase-report .good{--tone:var(--good)}
.ase-report .unsure{--tone:var(--unsure)}
.ase-report .bad{--tone:var(--bad)}
.ase-report summary{cursor:pointer;color:var(--soft);font-size:.9rem;margin-top:.6rem}
.ase-report footer{color:var(--soft);font-size:.85rem;margin-top:2.5rem;
border-top:1px solid var(--line);padding-top:1rem}
@media (max-width:34rem){.ase-report{padding:1.4rem 1rem 2rem}
.ase-report h1{font-size:1.5rem}.ase-report .value{font-size:2.7rem}
.ase-report .card{padding:1rem}
.ase-report dl{display:block}.ase-report dt{border:0;padding:.5rem 0 0}
.ase-report dd{padding:.1rem 0 .5rem}
.ase-report .cards thead{display:none}
.ase-report .cards tr,.ase-report .cards th,.ase-report .cards td{display:block}
.ase-report .cards tr{border-bottom:1px solid var(--line);padding:.5rem 0}
.ase-report .cards th,.ase-report .cards td,.ase-report .cards td.drawn{border:0;
padding:.1rem 0;max-width:none;width:auto;white-space:normal;overflow-wrap:anywhere}
.ase-report .cards td:not(.drawn){display:grid;grid-template-columns:7rem 1fr;
gap:.6rem}
.ase-report .cards td,.ase-report .cards td.n:not(.drawn){text-align:left}
.ase-report .cards td::before{content:attr(data-name);color:var(--soft);
font-size:.85rem}
.ase-report .cards td.drawn::before{display:block}
.ase-report .cards td:not(.drawn):empty{display:none}}
@media print{.ase-report{--ink:#000;--soft:#444;--line:#ccc;--paper:#fff;--card:#fff;
--main:#1f5fbf;--band:#1f5fbf2e;--good:#1a7a43;--unsure:#9a6200;--bad:#b3261e;
color-scheme:light;padding:0;max-width:none;font-size:10.5pt;
print-color-adjust:exact;-webkit-print-color-adjust:exact}
.ase-report h2{break-after:avoid}
.ase-report .card,.ase-report .verdict,.ase-report figure,.ase-report tr,
.ase-report dt,.ase-report dd,.ase-report li{break-inside:avoid}
.ase-report .scroll{overflow:visible}.ase-report details{display:none}}
@page{margin:16mm}
"""

# A notebook has rules of its own for tables and lists; three times is stronger.
STYLE = _THEMES + _LOOKS.replace(".ase-report ", 3 * ".ase-report" + " ")
