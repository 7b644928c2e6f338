package web

import (
	"fmt"
	"slices"

	"chairside/internal/entx/table"
)

const diagramPath = dataPath + "/diagram"

// Lengths in the diagram, in pixels.
const (
	letterWidth        = 8 // of a wide one
	boxGap, rankGap    = 26, 84
	rowHeight, padding = 22, 7
)

// diagram is a drawing of the views: a box for each, with its references as rows, and a curve from each
// row to the view that it references. Views are to the right of those that they reference.
type diagram struct {
	Width, Height int
	Boxes         []diagramBox
	Curves        []string // path data
}

type diagramBox struct {
	Name                string
	X, Y, Width, Height int
	TextX, TextY, below int // of the name; below is where the rows begin
	Rows                []diagramRow
}

type diagramRow struct {
	Column, To string
	X, Y       int
}

func drawDiagram(views []table.View) *diagram {
	d := &diagram{}
	boxWidth := widest(views)*letterWidth + 2*padding
	ranks := rankViews(views)
	at := map[string]int{} // index in Boxes
	bottom := map[int]int{}
	for _, v := range views {
		rank := ranks[v.Name]
		b := diagramBox{Name: v.Name, X: 1 + rank*(boxWidth+rankGap), Y: 1 + bottom[rank], Width: boxWidth}
		b.TextX, b.TextY = b.X+padding, b.Y+rowHeight-padding
		b.below = b.Y + rowHeight
		for _, c := range v.Columns {
			if c.References != "" {
				b.Rows = append(b.Rows, diagramRow{c.Name, c.References, b.X + padding, b.below + (len(b.Rows)+1)*rowHeight - padding})
			}
		}
		b.Height = rowHeight * (1 + len(b.Rows))
		bottom[rank] += b.Height + boxGap
		d.Width, d.Height = max(d.Width, b.X+b.Width+1), max(d.Height, b.Y+b.Height+1)
		at[v.Name] = len(d.Boxes)
		d.Boxes = append(d.Boxes, b)
	}
	for _, b := range d.Boxes {
		for _, r := range b.Rows {
			to := d.Boxes[at[r.To]]
			x1, y1, x2, y2 := b.X, r.Y-padding+2, to.X+to.Width, to.Y+rowHeight/2
			d.Curves = append(d.Curves, fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x1, y1, x1-rankGap/2, y1, x2+rankGap/2, y2, x2, y2))
		}
	}
	return d
}

// widest returns the length of the longest text in the diagram.
func widest(views []table.View) (letters int) {
	for _, v := range views {
		letters = max(letters, len(v.Name))
		for _, c := range v.Columns {
			if c.References != "" {
				letters = max(letters, len(c.Name))
			}
		}
	}
	return letters
}

// rankViews puts each view one rank after the last of those that it references. Views that reference
// each other, in a cycle, share a rank of what is left.
func rankViews(views []table.View) map[string]int {
	ranks := map[string]int{}
	for len(ranks) < len(views) {
		ranked := map[string]int{}
		for _, v := range views {
			if _, done := ranks[v.Name]; done {
				continue
			}
			rank, ready := 0, true
			for _, c := range v.Columns {
				if to, known := ranks[c.References]; known {
					rank = max(rank, to+1)
				} else if c.References != "" && c.References != v.Name {
					ready = false
				}
			}
			if ready {
				ranked[v.Name] = rank
			}
		}
		if len(ranked) == 0 { // a cycle
			i := slices.IndexFunc(views, func(v table.View) bool { _, done := ranks[v.Name]; return !done })
			ranked[views[i].Name] = len(ranks)
		}
		for name, rank := range ranked {
			ranks[name] = rank
		}
	}
	return ranks
}
