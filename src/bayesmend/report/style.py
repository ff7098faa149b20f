"""How the page looks, on a screen of any width and on paper."""

__all__ = ["SCRIPT", "STYLE"]

STYLE = """
:root { --ink: #1d2433; --soft: #5b6475; --line: #d9dee7; --paper: #fff;
  --tint: #f4f6fa; --bar: #d5e3f7; --blue: #2f6fb5; --good: #1d7a46;
  --good-tint: #e7f5ec; --warn: #8a5a00; --warn-tint: #fdf3dd; --bad: #a32020;
  --bad-tint: #fdebe9; }
@media screen and (prefers-color-scheme: dark) { :root { --ink: #e6e9ef;
  --soft: #a2abba; --line: #3a4252; --paper: #171b23; --tint: #202632; --bar: #2b4365;
  --blue: #7fb2ea; --good: #7fd6a2; --good-tint: #173324; --warn: #f0c674;
  --warn-tint: #3a2f14; --bad: #ff9d94; --bad-tint: #43201d; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 3rem; max-width: 62rem; color: var(--ink);
  background: var(--paper); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .25rem; }
h2 { font-size: 1.15rem; margin: 2.25rem 0 .75rem; }
h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
header p, .note { color: var(--soft); margin: .25rem 0 .75rem; }
.note { font-size: .875rem; max-width: 46rem; }
.certificate { border-left: 4px solid; border-radius: 4px; padding: .7rem 1rem;
  margin: 1.25rem 0; }
.certificate strong { font-size: 1.05rem; }
.certificate strong::first-letter { text-transform: uppercase; }
.certificate p { margin: .15rem 0 0; color: var(--ink); }
.proven { color: var(--good); background: var(--good-tint); }
.open { color: var(--warn); background: var(--warn-tint); }
.alarm { color: var(--bad); background: var(--bad-tint); }
.mended-shares td { vertical-align: top; }
.mended-shares tr.first td { border-top: 2px solid var(--line); }
.unlike { color: var(--bad); font-weight: 600; }
dl { display: flex; flex-wrap: wrap; gap: .75rem 2rem; margin: 1rem 0; }
dt { color: var(--soft); font-size: .8rem; }
dd { margin: 0; font-weight: 600; font-variant-numeric: tabular-nums; }
.wide { overflow-x: auto; max-width: 100%; }
table { border-collapse: collapse; font-size: .875rem; margin: 0 0 1.25rem; }
th, td { text-align: left; padding: .3rem .8rem; border-bottom: 1px solid var(--line);
  unicode-bidi: isolate; overflow-wrap: anywhere; min-width: 3.5rem; }
th { color: var(--soft); font-weight: 500; white-space: nowrap; }
.rows { color: var(--soft); min-width: 12rem; }
.n { text-align: right; font-variant-numeric: tabular-nums; }
.bar { min-width: 6rem; background: linear-gradient(to right, var(--bar)
  calc(var(--p) * 100%), transparent 0); }
details { border-bottom: 1px solid var(--line); }
details table { margin: .25rem 0 1rem 1rem; }
summary { cursor: pointer; padding: .4rem 0; font-weight: 600; }
summary span { color: var(--soft); font-weight: 400; }
.graph { display: block; margin: 0 auto; flex: none; }
.graph rect { fill: var(--tint); stroke: var(--line); }
.graph .mended rect { fill: var(--paper); stroke: var(--blue); stroke-width: 1.5; }
.graph text { font: 600 13px system-ui, sans-serif; text-anchor: middle;
  fill: var(--ink); }
.graph .small { font-weight: 400; font-size: 10.5px; fill: var(--soft); }
.arc { fill: none; stroke: var(--ink); stroke-width: 1.4; }
.arc.either { stroke-dasharray: 5 4; stroke: var(--soft); }
.head.fixed { fill: var(--ink); }
.head.either { fill: var(--soft); }
.chart { display: block; width: 100%; max-width: 44rem; height: auto; }
.axis { fill: none; stroke: var(--soft); }
.grid { stroke: var(--line); }
.tick { font: 11.5px system-ui, sans-serif; fill: var(--soft); }
.score { fill: none; stroke: var(--blue); stroke-width: 1.6; }
.chart circle { fill: var(--blue); stroke: var(--paper); }
.bound { stroke: var(--good); stroke-width: 1.4; stroke-dasharray: 6 4; }
footer { margin-top: 2.5rem; color: var(--soft); font-size: .8rem; }
@media (max-width: 36rem) { body { padding: 1.25rem .9rem 2rem; }
  th, td { padding: .3rem .5rem; } }
@media print { body { padding: 0; max-width: none; font-size: 10.5pt; }
  .wide { overflow: visible; } .graph { max-width: 100%; height: auto; }
  tr, .certificate, .chart { break-inside: avoid; } h2 { break-after: avoid; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
"""

SCRIPT = (
    # On paper nothing can be unfolded.
    "addEventListener('beforeprint',()=>document.querySelectorAll('details')"
    ".forEach(d=>{d.open=true}))"
)
