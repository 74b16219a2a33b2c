import Foundation
import PushSupport
import PushTypes
import Testing

@testable import WebPages

@Suite struct LockScreenTests {
    private static func screen(_ payload: String, _ type: PushType = .alert) throws -> LockScreen {
        LockScreen(payload: try JSONValue(parsing: Data(payload.utf8)), type: type)
    }

    private static func html(_ screen: LockScreen, topic: String = "com.example.MyApp") throws -> String {
        let texts = try PageLanguages([]).texts("en", acceptLanguage: nil)
        var model = screen.model(topic: topic, texts: texts)
        model["t"] = texts.variable
        let format = PageFormat(texts: texts, now: Timestamp(seconds: 0))
        return try #require(try PageTemplates([]).render("lock-screen", model, format: format))
    }

    @Test func anAlertShowsItsTexts() throws {
        let screen = try Self.screen(
            #"{"aps":{"alert":{"title":"T","subtitle":"S","body":"B"},"badge":3,"sound":"default","thread-id":"orders"}}"#
        )
        #expect(screen.title?.text == "T" && screen.subtitle?.text == "S" && screen.body?.text == "B")
        #expect(screen.badge == 3 && screen.hasSound && screen.thread == "orders")
        let html = try Self.html(screen)
        #expect(html.contains("MyApp") && html.contains(">T<") && html.contains("orders"))
    }

    @Test func aPlainTextIsTheBody() throws {
        #expect(try Self.screen(#"{"aps":{"alert":"Hello"}}"#).body == LockScreen.Text(text: "Hello"))
    }

    @Test func aMissingLocalizationShowsItsKey() throws {
        let screen = try Self.screen(
            #"{"aps":{"alert":{"title-loc-key":"T_KEY","loc-key":"B_KEY","loc-args":["1","2"]}}}"#
        )
        #expect(screen.title == LockScreen.Text(text: "T_KEY", isKey: true))
        #expect(screen.body == LockScreen.Text(text: "B_KEY (1, 2)", isKey: true))
        #expect(try Self.html(screen).contains("lock-key"))
    }

    @Test func levelsAreNamed() throws {
        #expect(
            try Self.html(Self.screen(#"{"aps":{"alert":"a","interruption-level":"time-sensitive"}}"#)).contains(
                "Time sensitive"
            )
        )
        let critical = try Self.screen(#"{"aps":{"alert":"a","sound":{"critical":1,"name":"x"}}}"#)
        #expect(critical.isCritical && critical.level == "critical")
        #expect(try Self.html(Self.screen(#"{"aps":{"alert":"a","interruption-level":"passive"}}"#)).contains("quiet"))
    }

    @Test(arguments: PushType.allCases.filter { $0 != .alert && $0 != .liveactivity })
    func otherPushesSayThatNothingIsShown(_ type: PushType) throws {
        let screen = try Self.screen(#"{"aps":{"content-available":1}}"#, type)
        guard case .silent = screen.kind else { return #expect(Bool(false), "\(type) is shown") }
        #expect(!(try Self.html(screen)).contains("preview."))
    }

    @Test func aBadgeAloneShowsNoText() throws {
        #expect(try Self.screen(#"{"aps":{"badge":1}}"#).kind == .silent(.badgeOnly))
        #expect(try Self.screen("{}").kind == .silent(.unreadable))
    }

    @Test func aLiveActivityListsItsValues() throws {
        let screen = try Self.screen(
            #"{"aps":{"event":"start","attributes":{"id":7},"content-state":{"score":"1:0"},"stale-date":1700000000}}"#,
            .liveactivity
        )
        guard case .activity(let event, let values) = screen.kind else { return #expect(Bool(false)) }
        #expect(event == "start")
        #expect(values.map(\.name) == ["attributes.id", "content-state.score"])
        #expect(screen.staleAt == 1_700_000_000)
    }

    @Test func nothingOfAPayloadIsMarkup() throws {
        let evil = #"\u0600<script>alert(1)</script>\" onload=\"x"#
        let payload =
            #"{"aps":{"alert":{"title":"\#(evil)","subtitle":"\#(evil)","body":"\#(evil)","summary-arg":"\#(evil)"},"thread-id":"\#(evil)","category":"\#(evil)","interruption-level":"\#(evil)"}}"#
        let html = try Self.html(Self.screen(payload), topic: "com.<b>")
        #expect(!html.contains("<script") && !html.contains("<b>") && !html.contains(" onload=\""))
    }

    @Test func garbageIsShownAsSomething() throws {
        for payload in [
            "null", "[]", "3", #"{"aps":7}"#, #"{"aps":{"alert":[1],"badge":"x","sound":{"critical":"y"}}}"#,
        ] {
            for type in PushType.allCases { _ = try Self.html(Self.screen(payload, type)) }
        }
        let long = String(repeating: "ä", count: 5000)
        #expect(try Self.screen(#"{"aps":{"alert":"\#(long)"}}"#).body.map { $0.text.count < 1100 } == true)
    }
}
