// The style sheet of the page. Colours of a token's class are used only where the reader has chosen them.
#include <fmt/format.h>

#include "run/report/page.hpp"
#include "run/report/rollout_panel.hpp"

namespace maxplus {

namespace {

constexpr const char* kStyle = R"(
:root {
  color-scheme: light dark;
  --ink: #222; --quiet: #5c5c5c; --paper: #fff; --rule: #e6e6e6; --axis: #888; --alarm: #fdf0e6; --alarm-edge: #d55e00;
  --calm: #00724f; --link: #0060a0;
  --c0: #0072b2; --c1: #d55e00; --c2: #009e73; --c3: #cc79a7; --c4: #8c6d00; --c5: #56b4e9; --c6: #444444; --c7: #e69f00;
  --p1: #fdf3d8; --p2: #fbdfa6; --p3: #f6b26b; --p4: #ee8a5a; --u1: #dcecf8; --u2: #b0d5f0; --u3: #7cb9e4; --d1: #fbe6da; --d2: #f6c6a8; --d3: #ef9f70;
}
@media (prefers-color-scheme: dark) { :root {
  --ink: #e6e6e6; --quiet: #a6a6a6; --paper: #16181b; --rule: #303338; --axis: #777; --alarm: #33231a; --alarm-edge: #f0884a;
  --calm: #4fc59b; --link: #7cb9e4;
  --c0: #58aee6; --c1: #f0884a; --c2: #35c79a; --c3: #dd9cc0; --c4: #cdac45; --c5: #8fd0f5; --c6: #b5b5b5; --c7: #f0b94a;
  --p1: #3a3420; --p2: #5a4718; --p3: #7a4d18; --p4: #8f3c1c; --u1: #1c3444; --u2: #1f4c6b; --u3: #216a9c; --d1: #40291d; --d2: #663a20; --d3: #8f4a22;
} }
body { margin: 0; font: 15px/1.5 system-ui, Helvetica, Arial, sans-serif; color: var(--ink); background: var(--paper); }
main { max-width: 1200px; margin: 0 auto; padding: 24px 16px 60px; box-sizing: border-box; }
h1 { font-size: 24px; line-height: 1.25; margin: 0 0 14px; overflow-wrap: anywhere; } h2 { font-size: 19px; margin: 40px 0 12px; } h3 { font-size: 15px; margin: 18px 0 8px; }
.quiet, figcaption, .head .quiet { color: var(--quiet); }
.calm { color: var(--calm); margin: 0 0 18px; }
.alarms { background: var(--alarm); border-left: 4px solid var(--alarm-edge); padding: 10px 16px 12px; margin: 0 0 22px; }
.alarms h2 { margin: 0 0 6px; font-size: 16px; } .alarms ul { margin: 0; padding: 0 0 0 18px; } .alarms li { margin: 0 0 6px; overflow-wrap: anywhere; }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(340px, 100%), 1fr)); gap: 28px 24px; }
figure { margin: 0; min-width: 0; } figure svg { width: 100%; max-width: 520px; height: auto; display: block; }
figcaption { font-size: 13px; margin: 2px 4px 0; }
.timelines figure { margin: 0 0 22px; } .timelines figure svg { max-width: 900px; } .timelines p { margin: 0 4px 4px; max-width: 70em; }
details { font-size: 13px; margin: 4px 4px 0; } summary { cursor: pointer; color: var(--link); width: fit-content; } details th, details td { font-size: 13px; padding-right: 12px; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: 14px; }
th, td { text-align: left; vertical-align: top; padding: 4px 18px 4px 0; border-bottom: 1px solid var(--rule); font-variant-numeric: tabular-nums; }
th { font-weight: 600; } .scroll > table > tbody > tr > th { white-space: nowrap; }
svg.ink { fill: var(--ink); } svg .quiet { fill: var(--quiet); } svg .rule { stroke: var(--rule); } svg .axis { stroke: var(--axis); }
.tips rect:hover { fill-opacity: .07; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.choices { display: flex; flex-wrap: wrap; gap: 10px 26px; margin: 0 0 8px; } fieldset { border: 0; margin: 0; padding: 0; min-width: 0; } legend { font-weight: 600; padding: 0; font-size: 14px; }
label { display: inline-block; margin: 2px 12px 2px 0; padding: 2px 0; cursor: pointer; font-variant-numeric: tabular-nums; } label input { margin: 0 5px 0 0; }
.key { font-size: 13px; margin: 4px 0; } .key i { padding: 1px 6px; }
.rollouts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(440px, 100%), 1fr)); gap: 16px 26px; }
.rollout { border-left: 3px solid var(--c1); padding: 0 0 2px 12px; min-width: 0; } .rollout.right { border-color: var(--c2); }
.head { font-size: 13px; margin: 0; overflow-wrap: anywhere; }
pre { margin: 4px 0 0; font: 13px/1.55 ui-monospace, Menlo, Consolas, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
pre.prompt { color: var(--quiet); } i { font-style: normal; border-radius: 2px; } .n { color: var(--quiet); text-decoration: underline dotted; } .cut { color: var(--quiet); }
@media (max-width: 600px) { .scroll > table > tbody > tr > th { white-space: normal; } th, td { padding-right: 12px; overflow-wrap: anywhere; } }
@media print { .choices { display: none; } figure, .rollout { break-inside: avoid; } }
)";

}  // namespace

std::string page_style() {
  std::string style = kStyle;
  for (int k = 0; k < 8; ++k)
    style += fmt::format("svg .c{0} {{ fill: var(--c{0}); }} svg .s{0} {{ stroke: var(--c{0}); }}\n", k);
  for (const auto& [choice, letters] : {std::pair{"p", "p"}, std::pair{"a", "ud"}}) {
    for (const char* letter = letters; *letter != 0; ++letter) {
      for (int level = 1; level <= 4; ++level)
        style += fmt::format(".panel:has(.pick-{}:checked) .{}{} {{ background: var(--{}{}); }}\n", choice, *letter,
                             level, *letter, level);
    }
    style += fmt::format(".panel:has(.choices) .by-{} {{ display: none; }}\n", choice);
    style += fmt::format(".panel:has(.pick-{0}:checked) .by-{0} {{ display: block; }}\n", choice);
  }
  style += ".panel:has(.choices) .iteration { display: none; }\n";  // a browser without :has shows them all
  for (int k = 0; k < kPanelIterations; ++k)
    style += fmt::format(".panel:has(.pick-{0}:checked) .it-{0} {{ display: block; }}\n", k);
  return style;
}

}  // namespace maxplus
