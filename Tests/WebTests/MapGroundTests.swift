import Encoding
import TestDatabase
import Testing

@Suite(.live(), .serialized) struct `The ground of the map page` {
    private static let tiles = "[...document.querySelectorAll('.leaflet-coast-pane canvas')]"
    /// Whether every tile of the coast is drawn.
    private static let isDrawn = "\(tiles).length > 0 && \(tiles).every((tile) => tile.classList.contains('leaflet-tile-loaded'))"
    /// Bytes of the tiles that the page loaded.
    private static let bytes = """
        performance.getEntriesByType('resource').filter((e) => e.name.includes('/coast-')).map((e) => e.encodedBodySize)
            .reduce((one, other) => one + other, 0)
        """
    /// A function of a place to the colour that a map around New York has there: red, green, blue.
    private static let colour = """
        ((lat, lon) => {
            const size = 256 * 2 ** 12;
            const point = (lat, lon) =>
                [(lon / 360 + 0.5) * size, (0.5 - Math.asinh(Math.tan(lat * Math.PI / 180)) / (2 * Math.PI)) * size];
            const [centre, place] = [point(40.73, -74), point(lat, lon)];
            const map = document.getElementById("map").getBoundingClientRect();
            const left = map.left + map.width / 2 + place[0] - centre[0], top = map.top + map.height / 2 + place[1] - centre[1];
            const tile = \(tiles).find((tile) => {
                const box = tile.getBoundingClientRect();
                return left >= box.left && left < box.right && top >= box.top && top < box.bottom;
            });
            const box = tile.getBoundingClientRect();
            return tile.getContext("2d").getImageData(left - box.left, top - box.top, 1, 1).data.slice(0, 3).join();
        })
        """
    /// A function of red, green and blue to whether a canvas of a pane has a pixel near this colour.
    private static func has(_ pane: String, _ colour: String) -> String {
        """
        [...document.querySelectorAll(".leaflet-\(pane)-pane canvas")].some((canvas) => {
            const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            const isNear = (at) => data[at + 3] > 60 && [\(colour)].every((value, index) => Math.abs(data[at + index] - value) < 8);
            for (let at = 0; at < data.length; at += 4) if (isNear(at)) return true;
            return false;
        })
        """
    }

    @Test func `has a coast that fits at zoom 12 in few bytes, borders over it, and the colours of the system`() async throws {
        let page = live.page
        try await live.open("map=12/40.73/-74&when=any")
        try await page.until(Self.isDrawn)
        // Midtown, Hoboken, Brooklyn; the Hudson, the East River, the Upper Bay.
        for (places, colour) in [
            (["40.755, -73.985", "40.745, -74.035", "40.70, -73.96"], "248,246,239"),
            (["40.75, -74.018", "40.72, -73.968", "40.67, -74.04"], "207,227,238"),
        ] {
            for place in places {
                #expect(try await page.evaluate("\(Self.colour)(\(place))") == .string(colour), "\(place)")
            }
        }
        #expect(try await page.evaluate("0 < \(Self.bytes) && \(Self.bytes) < 60000") == .bool(true))
        // The archipelago of Turku has the largest tiles.
        try await live.open("map=12/60.2/21.4&when=any")
        try await page.until(Self.isDrawn)
        #expect(try await page.evaluate("20000 < \(Self.bytes) && \(Self.bytes) < 60000") == .bool(true))
        // The Rhine at Strasbourg is a border, in another colour than the lines of the grid.
        try await live.open("map=9/48.5/7.8&when=any")
        try await page.until(Self.isDrawn)
        try await page.until(Self.has("lines", "179, 177, 160"))
        try await page.prefer("prefers-color-scheme", "dark")
        try await page.until(Self.has("coast", "35, 44, 40"))
        try await page.until("!\(Self.has("coast", "248, 246, 239"))")
        // Further out there are no tiles, and a change of colours brings none.
        try await live.open("map=5/48.5/7.8&when=any")
        try await page.until(Self.has("countries", "35, 44, 40"))
        try await page.prefer("prefers-color-scheme", "light")
        try await page.until(Self.has("countries", "248, 246, 239"))
        #expect(try await page.evaluate("\(Self.tiles).length + \(Self.bytes)") == JSON(0))
    }

    @Test func `has at most 3 of 600 cities off the land, and lakes, at each zoom of the tiles`() async throws {
        try await live.open()
        let script = """
            (async (level) => {
                const assets = document.body.dataset.assets, context = document.createElement("canvas").getContext("2d");
                const isLand = async ({ lat, lon }) => {
                    const x = (lon / 360 + 0.5) * 2 ** level;
                    const y = (0.5 - Math.asinh(Math.tan(lat * Math.PI / 180)) / (2 * Math.PI)) * 2 ** level;
                    const path = new Path2D(await (await fetch(`${assets}/coast-${level}-${Math.floor(x)}-${Math.floor(y)}`)).text());
                    return context.isPointInPath(path, (x % 1) * 2048, (y % 1) * 2048, "evenodd");
                };
                const { loadCities } = await import(`${assets}/ground.js`);
                const cities = await loadCities(assets);
                const land = await Promise.all(cities.map(isLand));
                // Michigan, Superior, Ontario, Victoria, Geneva, Baikal, Caspian Sea, North Sea, South Pacific.
                const waters = [[43, -87], [47.5, -88], [43.6, -78], [-1, 33], [46.42, 6.5], [53, 108], [42, 50.5], [56, 3], [-30, -120]];
                const water = await Promise.all(waters.map(([lat, lon]) => isLand({ lat, lon })));
                const off = cities.filter((_, index) => !land[index]).map(({ name }) => name);
                return { cities: cities.length, off, dry: waters.filter((_, index) => water[index]) };
            })
            """
        for level in [6, 9] {
            let result = try await live.page.evaluate("\(script)(\(level))")
            #expect(result["cities"] == JSON(600))
            guard case .array(let off)? = result["off"] else { throw BrowserPage.ScriptError(description: result.text) }
            #expect(off.count <= 3, "\(off)")
            #expect(result["dry"] == [])
        }
    }

    @Test func `shows the countries where tiles of the coast are missing, and asks for them again`() async throws {
        let page = live.page
        try await page.send("Network.setBlockedURLs", ["urls": ["*/coast-*"]])
        try await live.open("map=8/52/13&when=any")
        try await page.until(Self.has("countries", "248, 246, 239"))
        try await eventually("a tile that failed") { try await !page.events("Network.loadingFailed").isEmpty }
        #expect(try await page.evaluate("!\(Self.has("coast", "248, 246, 239"))") == .bool(true))
        try await page.send("Network.setBlockedURLs", ["urls": []])
        try await page.until(Self.isDrawn)
    }
}
