import Encoding
import Postgres
import TestDatabase
import TestServer
import Testing

@Suite(.serialized) struct `Coming back on the map page` {
    private static let isOpen = "document.getElementById('way')?.open"
    private static let isAsking = "document.getElementById('question').open"
    private static let problem = "document.querySelector('#way .problem').textContent"
    private static let secret = "#way .secret:not([hidden])"

    /// The user of a page, from its list.
    private static func user(_ page: BrowserPage) async throws -> Int {
        try await page.until("document.getElementById('who').textContent.startsWith('You are user ')")
        return try #require(try await page.text("#who").firstMatch(of: /You are user ([0-9]+)\./).flatMap { Int($0.1) })
    }

    /// Signs a page up by an event, and goes back to its list.
    private static func signUp(_ live: LivePage, _ event: String) async throws -> Int {
        try await live.add(event)
        try await live.page.evaluate("document.querySelector('.back').click()")
        return try await user(live.page)
    }

    /// The link or the code that the dialog makes.
    private static func make(_ noun: String, _ page: BrowserPage) async throws -> String {
        try await page.press(button: "Keep a way back")
        try await page.press(button: "Make a \(noun)")
        try await page.until("document.querySelector('\(secret)')")
        return try await page.text(secret)
    }

    /// Agrees to become a user.
    private static func agree(_ user: Int, _ page: BrowserPage) async throws {
        try await page.until(isAsking)
        try await page.press(button: "Come back as user \(user)")
        try await page.until("document.getElementById('way-title')?.textContent === 'You are user \(user)'")
    }

    /// The browser loses everything that it kept.
    private static func lose(_ page: BrowserPage) async throws {
        try await page.send("Page.navigate", ["url": "about:blank"])
        try await page.browser("Storage.clearCookies")
        try await page.discardComplaints()
    }

    @Test(.live()) func `a kept link brings its user to a browser that has nothing, after two clicks, again and again`()
        async throws
    {
        let page = live.page
        try await live.open()
        let user = try await Self.signUp(live, "Own")
        try await page.press(button: "Keep a way back")
        // What a finder could do stands there before there is anything to find.
        let warning = "Anybody who finds the link or the code is you: they can change and cancel your events"
        #expect(try await page.text("#way").contains(warning))
        #expect(try await page.evaluate("fetch('/v1/users/me/passes').then((answer) => answer.text())") == "[]")
        try await page.press(button: "Close")
        let link = try await Self.make("link", page)
        #expect(link.wholeMatch(of: /http:\/\/127\.0\.0\.1:[0-9]+\/back#[0-9A-Z]{26}/) != nil)
        let secret = String(link.suffix(26))
        try await page.press(button: "Close")
        try await page.until("!\(Self.isOpen) && !document.documentElement.outerHTML.includes('\(secret)')")

        try await Self.lose(page)
        try await page.open(link)
        try await page.until("\(Self.isOpen) && \(LivePage.isLive)")
        #expect(try await page.send("Page.getNavigationHistory")["entries"]?.text.contains(secret) == false)
        #expect(try await page.evaluate("location.pathname") == "/")
        #expect(try await page.evaluate("document.documentElement.outerHTML.includes('\(secret)')") == .bool(false))
        let sent = try await page.events("Network.requestWillBeSent").compactMap { $0["request"] }
        #expect(sent.count > 5)
        for request in sent {
            #expect(request["method"] != "POST")
            #expect(!["url", "headers"].contains { request[$0]?.text.contains(secret) == true }, "\(request.text)")
        }
        try await page.press(button: "Continue")
        try await page.until(Self.isAsking)
        #expect(try await page.text("#question-text").hasPrefix("You come back as user \(user). "))
        try await Self.agree(user, page)
        // The link works until its owner ends it: whoever found it keeps nobody away.
        #expect(try await page.evaluate("localStorage.length + sessionStorage.length") == JSON(0))
        try await Self.lose(page)
        try await page.open(link)
        try await page.press(button: "Continue")
        try await Self.agree(user, page)
        try await page.until("document.querySelector('#way [role=status]').textContent.startsWith('The link of ')")
        try await page.press(button: "End the link")
        try await page.until("document.querySelector('#way [role=status]').textContent === 'No link works now.'")
        try await live.open()
        try await live.openEvent("Own")
        try await page.press(button: "Change")
        try await page.until("document.querySelector('#form-view form')")
        try await page.open(link)
        try await page.press(button: "Continue")
        try await page.until("\(Self.problem).startsWith('No user has this link or code.')")
        try await page.discardComplaints()
    }

    @Test(.live()) func `ten typed characters move the user to another browser, and the one before says so`() async throws {
        let live = live
        let old = live.page
        try await live.open()
        let user = try await Self.signUp(live, "Own")
        let code = try await Self.make("code", old)
        #expect(code.wholeMatch(of: /[0-9A-Z]{5} [0-9A-Z]{5}/) != nil)
        try await BrowserPage.with(in: live.directory) { new in
            let other = LivePage(
                page: new, server: live.server, port: live.port, directory: live.directory, database: live.database,
                token: live.token)
            try await other.open()
            let left = try await Self.signUp(other, "Other")
            try await new.press(button: "Come back with a link or a code")
            try await new.fill("#pass", code.lowercased())
            try await new.press(button: "Continue")
            try await new.until(Self.isAsking)
            let question = "You come back as user \(user); this browser leaves user \(left), "
            #expect(try await new.text("#question-text").hasPrefix(question))
            try await new.press(button: "Stay user \(left)")
            #expect(try await Self.user(new) == left)
            try await new.press(button: "Continue")
            try await Self.agree(user, new)
            #expect(try await Self.user(new) == user)
        }
        try await old.send("Page.bringToFront")
        let moved = "User \(user) moved to another browser."
        try await old.until("!\(Self.isOpen) && document.getElementById('who').textContent.startsWith('\(moved)')")
        try await live.open()
        #expect(try await old.text("#who").hasPrefix(moved))
        try await old.click("#add")
        try await old.fill("#field-name", "New")
        try await old.press(button: "Add the event")
        try await old.until("document.querySelector('#form-view .problem').textContent.startsWith('\(moved)')")
        try await old.press(button: "Add the event")
        try await live.untilDetails("New")
        try await old.evaluate("document.querySelector('.back').click()")
        #expect(try await Self.user(old) != user)
    }

    @Test(.live()) func `a write in a browser whose user moved says so and writes nothing, and the next one is a new user's`()
        async throws
    {
        let page = live.page
        try await live.createEvent("Jazz night")
        try await live.open()
        let user = try await Self.signUp(live, "Own")
        let code = try await Self.make("code", page)
        try await page.press(button: "Close")
        try await live.openEvent("Jazz night")
        let other = "other.document?.getElementById('who')?.textContent"
        try await page.send("Runtime.evaluate", ["expression": "window.other = open('/'); true", "userGesture": .bool(true)])
        try await page.until("\(other)?.startsWith('You are user \(user).')")
        try await page.send("Page.bringToFront")
        let back = try await exchange(
            "POST", "\(live.address)/v1/users/return",
            headers: [("tb-app-secret", HumonProcess.secret), ("content-type", "application/json")],
            body: #"{"pass":"\#(code)","device_token":"a token of seventeen"}"#)
        #expect(back.status == 200)
        try await page.press(button: "Attend")
        try await page.until(
            "document.querySelector('#details-view .problem').textContent.startsWith('User \(user) moved to another browser.')")
        #expect(try await live.send("GET", "/v1/events/1/attendance").body.contains(#""count":0"#))
        // The other window of the browser hears of it.
        try await page.until("\(other).startsWith('User \(user) moved to another browser.')")
        try await page.press(button: "Attend")
        try await page.until("document.getElementById('attendance').textContent.startsWith('1 person attends, and you')")
        try await page.evaluate("document.querySelector('.back').click()")
        #expect(try await Self.user(page) != user)
    }

    @Test(.live()) func `after a lost answer, a reload and two clicks at once the same code brings the user once`() async throws {
        let page = live.page
        try await live.open()
        let user = try await Self.signUp(live, "Own")
        let code = try await Self.make("code", page)
        try await Self.lose(page)
        // The answer to the first return gets lost.
        let losing = """
            const original = window.fetch;
            window.returns = 0;
            window.fetch = async (path, options) => {
                const answer = await original(path, options);
                if (path !== "/session/return" || !options.body.includes('"user"') || sessionStorage.isLost) return answer;
                sessionStorage.isLost = 1;
                throw new TypeError("lost");
            };
            """
        try await page.send("Page.addScriptToEvaluateOnNewDocument", ["source": .string(losing)])
        try await page.open("\(live.address)/back")
        try await page.until("\(Self.isOpen) && \(LivePage.isLive)")
        try await page.press(button: "Continue")
        try await page.until("\(Self.problem) === 'Type the code, or paste the link.'")
        try await page.fill("#pass", code)
        try await page.network(isOffline: true)
        try await page.press(button: "Continue")
        try await page.until("\(Self.problem) === 'The server does not answer.'")
        try await page.network()
        try await page.until("!document.querySelector('#way [type=submit]').ariaDisabled")
        try await page.press(button: "Continue")
        try await page.until(Self.isAsking)
        try await page.press(button: "Come back as user \(user)")
        try await page.until("sessionStorage.isLost && \(Self.problem) === 'The server does not answer.'")
        // The tab is loaded again, without the cookie, and has no secret.
        try await page.browser("Storage.clearCookies")
        let kept = try await page.evaluate("JSON.stringify([{ ...sessionStorage }, { ...localStorage }])").text
        #expect(kept.contains("humon.return") && !kept.contains(code.prefix(5)) && !kept.contains(code.suffix(5)))
        try await page.open("\(live.address)/back")
        try await page.until("\(Self.isOpen) && \(LivePage.isLive)")
        try await page.fill("#pass", code)
        try await page.evaluate(
            "for (const time of [1, 2]) document.querySelector('#way [type=submit]').click(); true")
        try await Self.agree(user, page)
        #expect(try await Self.user(page) == user)
        try await live.database.withClient { client async throws in
            let returns = try await client.query(
                "SELECT count(*) FROM log.recorded_events WHERE type = 'TokenRotated'"
            ).decode(Int64.self)
            #expect(returns == [1])
        }
        #expect(try await page.evaluate("sessionStorage.getItem('humon.return')") == .null)
        try await page.discardComplaints()
    }

    @Test(.live()) func `no fragment becomes markup or a request, and a cookie that an older answer removes comes again`()
        async throws
    {
        let page = live.page
        try await live.open()
        let user = try await Self.signUp(live, "Own")
        let link = try await Self.make("link", page)
        try await Self.lose(page)
        for fragment in [
            "<img/src=x onerror=alert(1)>", "%3Cscript%3E", "javascript:alert(1)", "map=12/52.52/13.4", String(link.suffix(25)),
        ] {
            try await page.open("\(live.address)/back#\(fragment)")
            try await page.until("\(Self.isOpen) && document.getElementById('pass') && \(LivePage.isLive)")
            #expect(
                try await page.evaluate("document.querySelectorAll('#way :is(img, script)').length") == JSON(0), "\(fragment)")
            #expect(try await page.evaluate("location.href.includes('back')") == .bool(false), "\(fragment)")
        }
        let sent = try await page.events("Network.requestWillBeSent").compactMap { $0["request"]?["method"] }
        #expect(!sent.contains("POST"))
        // Between the answer to the return and the next request something removes the cookie.
        let holding = """
            const original = window.fetch;
            window.fetch = async (path, options) => {
                const answer = await original(path, options);
                if (path === "/session/return" && options.body.includes('"user"') && !window.release) {
                    await new Promise((resolve) => { window.release = resolve; });
                }
                return answer;
            };
            """
        try await page.send("Page.addScriptToEvaluateOnNewDocument", ["source": .string(holding)])
        try await page.open(link)
        try await page.press(button: "Continue")
        try await page.until(Self.isAsking)
        try await page.press(button: "Come back as user \(user)")
        try await page.until("window.release")
        try await page.browser("Storage.clearCookies")
        try await page.evaluate("release(); true")
        try await page.until("document.getElementById('way-title')?.textContent === 'You are user \(user)'")
        #expect(try await page.evaluate("fetch('/session').then((answer) => answer.text())") == .string(#"{"id":\#(user)}"#))
        try await page.discardComplaints()
    }

    @Test(.live(environment: ["HUMON_READS": "devices"]))
    func `a server for members goes on live as the user who came back`() async throws {
        let page = live.page
        try await live.open(untilLive: false)
        try await page.press(button: "Sign this browser up")
        try await page.until(LivePage.isLive)
        let left = try await Self.user(page)
        let issued = try await live.send("POST", "/v1/users/me/passes", #"{"kind":"transfer"}"#)
        let code = try #require(try JSON(utf8: issued.body.utf8)["pass"]?.string)
        try await page.press(button: "Come back with a link or a code")
        try await page.fill("#pass", code)
        try await page.press(button: "Continue")
        let me = try await live.send("GET", "/v1/users/me")
        let user = try #require(try JSON(utf8: me.body.utf8)["id"]?.integer)
        try await Self.agree(user, page)
        try await page.press(button: "Close")
        try await page.until(LivePage.isLive)
        // The stream is the new user's: the token of the old one is dead, and so is the other client's.
        #expect(user != left)
        #expect(try await live.send("GET", "/v1/users/me").status == 401)
        try await live.add("Own")
        try await page.evaluate("document.querySelector('.back').click()")
        try await live.untilListed(["Own"])
    }

    @Test(.live()) func `the address of one's calendar has a dialog of its own, shows what one adds, and is no way back`()
        async throws
    {
        let page = live.page
        try await live.open()
        _ = try await Self.signUp(live, "Own")
        try await page.press(button: "Keep a way back")
        #expect(try await !page.text("#way").contains("calendar"))
        try await page.press(button: "Close")
        try await page.press(button: "Your events in your calendar")
        // What a finder could do stands there before there is anything to find.
        #expect(try await page.text("#way").contains("Anybody who finds the address can read which events you add and attend."))
        #expect(try await page.evaluate("fetch('/v1/users/me/passes').then((answer) => answer.text())") == "[]")
        try await page.press(button: "Make an address")
        try await page.until("document.querySelector('\(Self.secret)')")
        let address = try await page.text(Self.secret)
        let found = try #require(address.wholeMatch(of: /http:\/\/127\.0\.0\.1:[0-9]+\/v1\/calendars\/([0-9A-Z]{26})\.ics/))
        let feed = try await exchange("GET", address)
        #expect(feed.status == 200 && feed.body.contains("\r\nSUMMARY:Own\r\n"))
        try await page.open("\(live.address)/back#\(found.1)")
        try await page.press(button: "Continue")
        try await page.until("\(Self.problem).startsWith('No user has this link or code.')")
        try await page.press(button: "Close")
        try await page.press(button: "Your events in your calendar")
        try await page.until("document.querySelector('#way [role=status]').textContent.startsWith('The address of ')")
        try await page.press(button: "End the address")
        try await page.until("document.querySelector('#way [role=status]').textContent === 'No address works now.'")
        #expect(try await exchange("GET", address).status == 404)
        try await page.discardComplaints()
    }

    /// Whether each button of the dialog comes to the screen when the dialog scrolls to it, and nothing is wider than the screen.
    private static let isUsable = """
        [...document.querySelectorAll("#way :is(button, input)")].filter((e) => e.checkVisibility()).every((e) => {
            e.scrollIntoView({ block: "center" });
            const { x, y, width, height } = e.getBoundingClientRect();
            return document.elementFromPoint(x + width / 2, y + height / 2) === e;
        }) && [document.documentElement, document.getElementById("way")].every((e) => e.scrollWidth <= e.clientWidth)
        """

    @Test(.live()) func `the dialogs work with the keyboard, on a phone and at 400 percent, and axe finds nothing`() async throws
    {
        let page = live.page
        func fits(_ what: String) async throws {
            for (width, height) in [(320, 200), (640, 400), BrowserPage.phone, (1200, 800)] {
                try await page.resize(width, height)
                try await page.until(Self.isUsable, within: .seconds(3))
            }
            for scheme in ["dark", "light"] {
                try await page.prefer("prefers-color-scheme", scheme)
                try await page.expectAccessible("\(what), \(scheme)")
            }
        }
        try await live.open()
        _ = try await Self.signUp(live, "Own")
        try await page.tab(to: "e.textContent === 'Keep a way back'")
        try await page.enter()
        try await page.until("document.activeElement.id === 'way-title'")
        for noun in ["link", "code"] {
            try await page.tab(to: "e.textContent === 'Make a \(noun)'")
            try await page.enter()
            try await page.until("document.activeElement.textContent === 'Make a new \(noun)'")
        }
        try await fits("a link and a code")
        try await page.tab(to: "e.textContent === 'End the link'")
        try await page.enter()
        try await page.until("document.activeElement.textContent === 'Make a link'")
        try await page.key("Escape", code: 27)
        try await page.until("!\(Self.isOpen) && document.activeElement.textContent === 'Keep a way back'")
        try await page.tab(to: "e.id === 'return'")
        try await page.enter()
        try await page.tab(to: "e.id === 'pass'")
        try await page.type("0000000000")
        try await page.enter()
        try await page.until("\(Self.problem) !== '' && document.activeElement.id === 'pass'")
        try await fits("a refused code")
        try await page.key("Escape", code: 27)
        try await page.until("!\(Self.isOpen) && !document.getElementById('list-view').hidden")
    }
}
