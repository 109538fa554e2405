import Encoding
import Testing

@Suite(.serialized) struct `The ground of the map page` {
    @Test func `has a coast that fits at zoom 12, in few bytes, and borders over it`() async throws {
        try await LivePage.with { live, _ in
            let page = live.page
            try await live.open("map=12/40.73/-74&when=any")
            // The colour of the map at a place, of the tile that covers it.
            let colour = """
                ((lat, lon, scale = 2 ** 12, x = (lon / 360 + 0.5) * scale,
                  y = (0.5 - Math.asinh(Math.tan(lat * Math.PI / 180)) / (2 * Math.PI)) * scale) => {
                    const centre = [(-74 / 360 + 0.5) * scale, (0.5 - Math.asinh(Math.tan(40.73 * Math.PI / 180)) / (2 * Math.PI)) * scale];
                    const map = document.getElementById("map").getBoundingClientRect();
                    const left = map.left + map.width / 2 + 256 * (x - centre[0]), top = map.top + map.height / 2 + 256 * (y - centre[1]);
                    for (const tile of document.querySelectorAll(".leaflet-coast-pane canvas.leaflet-tile-loaded")) {
                        const box = tile.getBoundingClientRect();
                        if (left < box.left || left >= box.right || top < box.top || top >= box.bottom) continue;
                        return tile.getContext("2d").getImageData(left - box.left, top - box.top, 1, 1).data.slice(0, 3).join();
                    }
                })
                """
            let (land, sea) = ("248,246,239", "207,227,238")
            // Midtown, Hoboken, Brooklyn; the Hudson, the East River, the Upper Bay.
            for place in ["40.755, -73.985", "40.745, -74.035", "40.70, -73.96"] {
                try await page.until("\(colour)(\(place)) === '\(land)'")
            }
            for place in ["40.75, -74.018", "40.72, -73.968", "40.67, -74.04"] {
                try await page.until("\(colour)(\(place)) === '\(sea)'")
            }
            let bytes =
                "performance.getEntriesByType('resource').filter((e) => e.name.includes('/coast-')).map((e) => e.encodedBodySize)"
            #expect(try await page.evaluate("\(bytes).length > 0 && \(bytes).reduce((a, b) => a + b) < 60000") == .bool(true))
            // The archipelago of Turku has the largest tiles.
            try await live.open("map=12/60.2/21.4&when=any")
            try await page.until("\(bytes).reduce((a, b) => a + b, 0) > 20000")
            #expect(try await page.evaluate("\(bytes).reduce((a, b) => a + b) < 60000") == .bool(true))
            // The border of Canada and the United States is a line over the tiles.
            try await live.open("map=9/49/-97&when=any")
            try await page.until(
                """
                [...document.querySelectorAll(".leaflet-lines-pane canvas")].some((canvas) =>
                    canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value > 0))
                """)
            try await page.prefer("prefers-color-scheme", "dark")
            try await page.until(
                """
                [...document.querySelectorAll(".leaflet-coast-pane canvas.leaflet-tile-loaded")].some((tile) =>
                    tile.getContext("2d").getImageData(99, 99, 1, 1).data.slice(0, 3).join() === "35,44,40")
                """)
        }
    }

    @Test func `has at most 3 of 600 cities off the land, at each zoom of the tiles`() async throws {
        try await LivePage.with { live, _ in
            try await live.open()
            let script = """
                (async (level) => {
                    const assets = document.body.dataset.assets, context = document.createElement("canvas").getContext("2d");
                    const { loadCities } = await import(`${assets}/ground.js`);
                    const off = await Promise.all((await loadCities(assets)).map(async ({ name, lat, lon }) => {
                        const x = (lon / 360 + 0.5) * 2 ** level;
                        const y = (0.5 - Math.asinh(Math.tan(lat * Math.PI / 180)) / (2 * Math.PI)) * 2 ** level;
                        const path = new Path2D(await (await fetch(`${assets}/coast-${level}-${Math.floor(x)}-${Math.floor(y)}`)).text());
                        return context.isPointInPath(path, (x % 1) * 2048, (y % 1) * 2048, "evenodd") ? [] : [name];
                    }));
                    return { cities: off.length, off: off.flat() };
                })
                """
            for level in [6, 9] {
                let result = try await live.page.evaluate("\(script)(\(level))")
                #expect(result["cities"] == JSON(600))
                guard case .array(let off)? = result["off"] else { throw BrowserPage.ScriptError(description: result.text) }
                #expect(off.count <= 3, "\(off)")
            }
        }
    }

    @Test func `shows the countries where a tile of the coast is missing`() async throws {
        try await LivePage.with { live, _ in
            let page = live.page
            try await page.send("Network.setBlockedURLs", ["urls": ["*/coast-*"]])
            try await live.open("map=8/52/13&when=any")
            let isDrawn = "document.querySelectorAll('.leaflet-coast-pane canvas.leaflet-tile-loaded').length > 0"
            try await page.until("document.querySelectorAll('.leaflet-coast-pane canvas').length > 0")
            try await page.until(
                """
                [...document.querySelectorAll(".leaflet-countries-pane canvas")].some((canvas) =>
                    canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value > 0))
                """)
            let isClear = "(c) => c.getContext('2d').getImageData(9, 9, 1, 1).data[3] === 0"
            #expect(
                try await page.evaluate("[...document.querySelectorAll('.leaflet-coast-pane canvas')].every(\(isClear))")
                    == .bool(true))
            // The next move asks again.
            try await page.send("Network.setBlockedURLs", ["urls": []])
            try await page.evaluate("location.hash = 'map=9/52/13&when=any'")
            try await page.until(isDrawn)
        }
    }
}
