import Foundation
import MartletKit
import Testing

/// The screens of an app in these tests.
private enum Place: Hashable, Sendable {
    case home
    case order(Int, tab: Tab?)
    case article(UUID, since: Date?)
    case search(String, minimum: Double?, onlyOpen: Bool?)
}

private enum Tab: String, ScreenValue { case items, notes }

private let identifier = UUID()

private func makeRouter() throws -> NotificationRouter<Place> {
    let rules = try ScreenRules(
        screens: [
            NotificationScreen(name: "home"),
            NotificationScreen(
                name: "order",
                class: "OrderViewController",
                path: "/orders/:id",
                parameters: [.integer("id", in: 1...1000), .choice("tab", of: ["items", "notes"], isRequired: false)]
            ),
            NotificationScreen(name: "newest", class: "Newest", path: "/orders/newest"),
            NotificationScreen(
                name: "article",
                class: "Article",
                parameters: [.uuid("id"), .date("since", isRequired: false)]
            ),
            NotificationScreen(name: "plain", class: "Plain", parameters: [.uuid("id")]),
            NotificationScreen(
                name: "search",
                class: "Search",
                path: "/search",
                parameters: [
                    .text("q", maximumLength: 10), .number("minimum", in: -1...1, isRequired: false),
                    .boolean("open", isRequired: false),
                ]
            ),
        ],
        fallback: "home"
    )
    return try NotificationRouter(
        rules,
        destinations: [
            "home": { _ in .home },
            "order": { values in
                let id: Int = try values.required("id")
                guard id != 13 else { throw RouteError("there is no order 13") }
                return .order(id, tab: try values.optional("tab"))
            },
            "newest": { _ in .order(0, tab: nil) },
            "article": { .article(try $0.required("id"), since: try $0.optional("since")) },
            "plain": { .article(try $0.required("id"), since: nil) },
            "search": {
                .search(try $0.required("q"), minimum: try $0.optional("minimum"), onlyOpen: try $0.optional("open"))
            },
        ]
    )
}

@Suite("Router") struct RouterTests {
    private func route(_ json: String) throws -> NotificationRoute<Place>? {
        let notification = try #require(ReceivedNotification(json: Data(json.utf8)))
        return try makeRouter().route(notification)
    }

    @Test("A notification without class, property and path opens no screen of its own")
    func nothingAsked() throws {
        #expect(try self.route(#"{"aps":{"alert":"x"},"other":1}"#) == nil)
        #expect(try self.route(#"{"class":null,"property":null,"path":null}"#) == nil)
    }

    @Test("Class and properties open a declared screen with typed values")
    func classes() throws {
        let order = try #require(try self.route(#"{"class":"OrderViewController","property":{"id":42,"tab":"notes"}}"#))
        #expect(order.destination == .order(42, tab: .notes))
        #expect(order.screen == "order")
        #expect(order.refusal == nil)
        let article = #"{"class":"Article","property":{"id":"\#(identifier)","since":"2026-01-02T03:04:05.5Z"}}"#
        #expect(
            try self.route(article)?.destination
                == .article(identifier, since: Date(timeIntervalSince1970: 1_767_323_045.5))
        )
        #expect(
            try self.route(#"{"class":"Article","property":{"id":"\#(identifier)","since":1767323045}}"#)?.destination
                == .article(identifier, since: Date(timeIntervalSince1970: 1_767_323_045))
        )
        #expect(
            try self.route(#"{"class":"Search","property":{"q":"a\nä","minimum":1,"open":false}}"#)?.destination
                == .search("a\nä", minimum: 1, onlyOpen: false)
        )
    }

    @Test("One value goes to the only parameter; null leaves a property out")
    func oneValue() throws {
        #expect(
            try self.route(#"{"class":"Plain","property":"\#(identifier)"}"#)?.destination
                == .article(identifier, since: nil)
        )
        #expect(try self.route(#"{"class":"OrderViewController","property":42}"#)?.refusal?.reason == .malformed)
        #expect(
            try self.route(#"{"class":"OrderViewController","property":{"id":4,"tab":null}}"#)?.destination
                == .order(4, tab: nil)
        )
        #expect(try self.route(#"{"class":"Newest"}"#)?.destination == .order(0, tab: nil))
    }

    @Test(
        "Paths open a declared screen; literals come before parameters",
        arguments: [
            ("/orders/42", Place.order(42, tab: nil)), ("/orders/42?tab=items", .order(42, tab: .items)),
            ("/orders/newest", .order(0, tab: nil)),
            ("/search?q=%C3%A4+%26&minimum=-0.5&open=true", .search("ä+&", minimum: -0.5, onlyOpen: true)),
            ("/search?q=a=b", .search("a=b", minimum: nil, onlyOpen: nil)), ("/orders/42?", .order(42, tab: nil)),
        ]
    )
    fileprivate func paths(path: String, place: Place) throws {
        let route = try makeRouter().route(path: path)
        #expect(route.destination == place)
        #expect(route.refusal == nil)
        let json = JSONValue.object(["aps": .object([:]), "path": .string(path)]).json
        #expect(try makeRouter().route(try #require(ReceivedNotification(json: json))) == route)
    }

    @Test(
        "A payload that the rules do not know opens the fallback and says why",
        arguments: [
            (#"{"class":"Order"}"#, RouteError.Reason.unknownClass), (#"{"class":""}"#, .unknownClass),
            (#"{"class":"NSTask"}"#, .unknownClass), (#"{"class":"orderviewcontroller"}"#, .unknownClass),
            (#"{"class":"Swift.String"}"#, .unknownClass), (#"{"class":"order"}"#, .unknownClass),
            (#"{"class":["OrderViewController"]}"#, .wrongType), (#"{"class":1}"#, .wrongType),
            (#"{"property":{"id":1}}"#, .malformed), (#"{"class":"Newest","path":"/search"}"#, .malformed),
            (#"{"property":1,"path":"/orders/1"}"#, .malformed), (#"{"path":7}"#, .wrongType),
            (#"{"class":"Newest","property":{"id":1}}"#, .unknownProperty),
            (#"{"class":"Newest","property":1}"#, .malformed),
            (#"{"class":"Newest","property":[]}"#, .wrongType),
            (#"{"class":"OrderViewController"}"#, .missingProperty),
            (#"{"class":"OrderViewController","property":{}}"#, .missingProperty),
            (#"{"class":"OrderViewController","property":{"id":null}}"#, .missingProperty),
            (#"{"class":"OrderViewController","property":{"id":"42"}}"#, .wrongType),
            (#"{"class":"OrderViewController","property":{"id":1.5}}"#, .wrongType),
            (#"{"class":"OrderViewController","property":{"id":true}}"#, .wrongType),
            (#"{"class":"OrderViewController","property":{"id":0}}"#, .notAllowed),
            (#"{"class":"OrderViewController","property":{"id":1e300}}"#, .wrongType),
            (#"{"class":"OrderViewController","property":{"id":{"a":1}}}"#, .tooDeep),
            (#"{"class":"OrderViewController","property":{"id":[[[1]]]}}"#, .tooDeep),
            (#"{"class":"OrderViewController","property":{"id":1,"tab":"Notes"}}"#, .notAllowed),
            (#"{"class":"OrderViewController","property":{"id":1,"view.window":1}}"#, .unknownProperty),
            (#"{"class":"OrderViewController","property":{"id":13}}"#, .rule),
            (#"{"class":"Article","property":{"id":"x"}}"#, .wrongType),
            (#"{"class":"Search","property":{"q":"0123456789a"}}"#, .tooLong),
            (#"{"class":"Search","property":{"q":"ääääää"}}"#, .tooLong),
            (#"{"class":"Search","property":{"q":"a\u0000b"}}"#, .notAllowed),
            (#"{"class":"Search","property":{"q":"x","minimum":1.01}}"#, .notAllowed),
            (#"{"class":"Search","property":{"q":"x","minimum":"1"}}"#, .wrongType),
            (#"{"class":"Search","property":{"q":"x","open":1}}"#, .wrongType),
            (#"{"path":"/orders"}"#, .unknownPath), (#"{"path":"/"}"#, .unknownPath), (#"{"path":""}"#, .malformed),
            (#"{"path":"orders/1"}"#, .malformed), (#"{"path":"https://example.com/orders/1"}"#, .malformed),
            (#"{"path":"//orders/1"}"#, .malformed), (#"{"path":"/orders/1/"}"#, .malformed),
            (#"{"path":"/orders/.."}"#, .malformed), (#"{"path":"/orders/%2e%2E"}"#, .malformed),
            (#"{"path":"/orders/..%2F..%2Fetc"}"#, .malformed), (#"{"path":"/orders/a%5Cb"}"#, .malformed),
            (#"{"path":"/orders/1#x"}"#, .malformed), (#"{"path":"/orders/%"}"#, .malformed),
            (#"{"path":"/orders/%4"}"#, .malformed), (#"{"path":"/orders/%zz"}"#, .malformed),
            (#"{"path":"/search?q=%ff"}"#, .malformed), (#"{"path":"/search?q=%ED%A0%80"}"#, .malformed),
            (#"{"path":"/search?q=%00"}"#, .notAllowed), (#"{"path":"/search?q=a&q=b"}"#, .malformed),
            (#"{"path":"/search?q"}"#, .malformed), (#"{"path":"/search?q=a&&"}"#, .malformed),
            (#"{"path":"/search?q=a&x=1"}"#, .unknownProperty), (#"{"path":"/search"}"#, .missingProperty),
            (#"{"path":"/orders/1?id=2"}"#, .malformed), (#"{"path":"/orders/+1"}"#, .wrongType),
            (#"{"path":"/orders/0x1"}"#, .wrongType), (#"{"path":"/search?q=a&minimum=nan"}"#, .wrongType),
            (#"{"path":"/search?q=a&minimum=0x1p0"}"#, .wrongType), (#"{"path":"/search?q=a&open=1"}"#, .wrongType),
            // A slash with an accent is one character of Swift, and still a slash.
            ("{\"path\":\"/search/\u{301}x\"}", .unknownPath), (#"{"path":"/orders/a%2F%CC%81b"}"#, .malformed),
        ]
    )
    func refusals(json: String, reason: RouteError.Reason) throws {
        let route = try #require(try self.route(json))
        #expect(route.destination == .home)
        #expect(route.screen == "home")
        #expect(route.refusal?.reason == reason, "\(route)")
    }

    @Test("Texts that only Unicode takes for equal are not the declared ones")
    func canonicallyEqual() throws {
        let rules = try ScreenRules(
            screens: [
                NotificationScreen(name: "home"),
                NotificationScreen(name: "k", class: "Kö", parameters: [.text("K", isRequired: false)]),
            ],
            fallback: "home"
        )
        let router = try NotificationRouter<String>(rules, destinations: ["home": { _ in "home" }, "k": { _ in "k" }])
        #expect(router.route(["class": "K\u{f6}"])?.destination == "k")
        #expect(router.route(["class": "Ko\u{308}"])?.refusal?.reason == .unknownClass)
        #expect(router.route(["class": "\u{212A}\u{f6}"])?.refusal?.reason == .unknownClass)
        let kelvin = router.route(["class": "K\u{f6}", "property": .object(["\u{212A}": "x"])])
        #expect(kelvin?.refusal?.reason == .unknownProperty)
    }

    @Test("Long names, long paths and many values are refused")
    func tooLong() throws {
        let long = String(repeating: "x", count: 100_000)
        let many = (0..<33).map { "\"p\($0)\":1" }.joined(separator: ",")
        let deep = String(repeating: "/a", count: 17)
        let items = (0..<33).map { "p\($0)=1" }.joined(separator: "&")
        #expect(try self.route(#"{"class":"\#(long)"}"#)?.refusal?.reason == .tooLong)
        #expect(try self.route(#"{"path":"/\#(long)"}"#)?.refusal?.reason == .tooLong)
        #expect(try self.route(#"{"path":"\#(deep)"}"#)?.refusal?.reason == .tooDeep)
        #expect(try self.route(#"{"path":"/search?\#(items)"}"#)?.refusal?.reason == .tooLong)
        #expect(try self.route(#"{"class":"Newest","property":{\#(many)}}"#)?.refusal?.reason == .tooLong)
        let refusal = try self.route(#"{"class":"Newest","property":{"\#(long)":1}}"#)?.refusal
        #expect(refusal?.reason == .unknownProperty)
        #expect((refusal?.description.utf8.count ?? .max) < 200)
    }

    @Test("A text for the log has no control characters, and no values")
    func logging() throws {
        let forged = try self.route(#"{"class":"a\nERROR forged\u202e\u0007"}"#)
        #expect(forged?.refusal?.description == "no screen has the class a?ERROR forged??")
        let secret = try self.route(#"{"class":"Search","property":{"q":"my password is long"}}"#)
        #expect(secret?.refusal?.description == "the property q has more than 10 bytes")
        #expect(try self.route(#"{"path":"/orders/13"}"#)?.refusal?.description == "there is no order 13")
    }

    @Test("A router needs a destination for every screen, and a fallback that does not refuse")
    func destinations() throws {
        let rules = try ScreenRules(
            screens: [NotificationScreen(name: "home"), NotificationScreen(name: "a", class: "A")],
            fallback: "home"
        )
        func fault(_ destinations: [String: NotificationRouter<Int>.Maker]) -> String? {
            let router = Result { try NotificationRouter(rules, destinations: destinations) }
            guard case .failure(let error) = router else { return nil }
            return "\(error)"
        }
        #expect(fault(["home": { _ in 1 }, "a": { _ in 2 }]) == nil)
        #expect(fault(["home": { _ in 1 }]) == "screens[1]: the app has no destination a")
        #expect(
            fault(["home": { _ in 1 }, "a": { _ in 2 }, "b": { _ in 3 }]) == "destinations: the rules have no screen b"
        )
        #expect(
            fault(["home": { _ in throw RouteError("closed") }, "a": { _ in 2 }])
                == "fallback: its destination refuses: closed"
        )
    }
}
