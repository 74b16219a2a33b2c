import Foundation
import NIOCore
import PushSender
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import ProviderAPI

/// The publisher's notify form, over a real port.
@Suite(.timeLimit(.patience)) struct NotifyFormTests {
    static let path = "\(Forms.publisher)/notify"

    /// The text of a new key with this name.
    static func key(_ provider: RunningProvider, _ name: String, scope: String = "send") async throws -> String {
        let issued = try await provider.api.post("/v1/keys", ["name": .string(name), "scopes": [.string(scope)]])
        return issued.json["key"].stringValue ?? ""
    }

    static func register(_ provider: RunningProvider, _ token: String, _ newsstand: String, _ environment: String)
        async throws
    {
        let path = "\(Forms.publisher)/\(Forms.key)/register?environment=\(environment)"
        let response = try await provider.post(path, [("token", token), ("newsstandEnabled", newsstand)])
        #expect(response.status == 200)
    }

    @Test(arguments: [("com.example.issue.7", "production"), ("dev_test.issue", "sandbox")])
    func devicesWithNewsstandAreWoken(product: String, environment: String) async throws {
        let sender = ScriptedSender()
        try await Forms.withProvider(senders: sender) { provider in
            let other = environment == "sandbox" ? "production" : "sandbox"
            try await Self.register(provider, Vectors.tokenA, "8", environment)
            try await Self.register(provider, Vectors.tokenC, "0", environment)
            try await Self.register(provider, "aGVsbG8h", "8", other)
            let key = try await Self.key(provider, "editor@example.com")
            let fields = [
                ("adobeid", "Editor@example.com"), ("PASSWORD", key), ("productID", product), ("Id", "1384500000000"),
            ]
            let response = try await provider.post(Self.path, fields)
            #expect(response.status == 200)
            let words = response.text.split(separator: " ")
            #expect(words.first == "OK")
            #expect(response.text.hasSuffix(" 1 devices\n"))
            let again = try await provider.post(Self.path, fields)
            #expect(again.text.split(separator: " ").prefix(2) == words.prefix(2))
            #expect(try await provider.post(Self.path, fields + [("waveSize", "7")]).status == 409)
            _ = try await provider.finished(String(words[1]))
            #expect(sender.sent.map(\.token.hex) == [Vectors.tokenA])
            let sent = try #require(sender.sent.first).notification
            let payload = try JSONValue(parsing: Data(sent.payload.readableBytesView))
            #expect(payload == ["aps": ["content-available": 1], "productId": .string(product)])
            #expect(sent.pushType == .background)
        }
    }

    @Test func aKeyThatMayNotSendIsRejected() async throws {
        let sender = ScriptedSender()
        try await Forms.withProvider(senders: sender) { provider in
            try await Self.register(provider, Vectors.tokenA, "8", "production")
            let key = try await Self.key(provider, "editor@example.com")
            let reader = try await Self.key(provider, "reader", scope: "read")
            for (account, password) in [("someone", key), ("editor@example.com", "mk_wrong"), ("reader", reader)] {
                let fields = [("adobeID", account), ("password", password), ("productId", "p")]
                let response = try await provider.post(Self.path, fields)
                #expect(response.status == 403)
                #expect(!response.text.contains(password))
            }
            #expect(sender.sent.isEmpty)
        }
    }

    @Test(arguments: [
        [("password", "x"), ("productId", "p")], [("adobeID", "a"), ("productId", "p")],
        [("adobeID", "a"), ("password", "x")],
        [("adobeID", "a"), ("password", "x"), ("productId", String(repeating: "p", count: 300))],
        [("adobeID", "a"), ("password", "x"), ("productId", "p"), ("waveSize", "0")],
        [("adobeID", "a"), ("password", "x"), ("productId", "p"), ("waveInterval", "soon")],
    ])
    func aFormThatIsNotCompleteIsRejected(fields: [(String, String)]) async throws {
        try await Forms.withProvider { provider in
            let response = try await provider.post(Self.path, fields)
            #expect(response.status == 400)
        }
    }

    @Test func anAppThatIsNotThereOrCannotSendIsNamed() async throws {
        try await Forms.withProvider { provider in
            let key = try await Self.key(provider, "editor")
            let fields = [("adobeID", "editor"), ("password", key), ("productId", "p")]
            #expect(try await provider.post("/compat/publisher/com.example.None/notify", fields).status == 404)
            _ = try await provider.api.post("/v1/apps", ["bundleId": "com.example.Bare"])
            #expect(try await provider.post("/compat/publisher/com.example.Bare/notify", fields).status == 409)
        }
    }

    @Test func peopleGetAPage() async throws {
        try await Forms.withProvider { provider in
            let page = try await provider.api.get(Self.path)
            #expect(page.status == 200)
            #expect(page.headers["content-type"] == "text/html; charset=utf-8")
            #expect(page.headers["content-security-policy"]?.hasPrefix("default-src 'none'") == true)
            let html = String(decoding: page.body, as: UTF8.self)
            #expect(html.contains(Vectors.bundleID))
            for field in ["productId", "Id", "again"] { #expect(html.contains("name=\"\(field)\"")) }
            for app in ["%3Cb%3E", "%D8%80%3Cscript%3E", "a%20b"] {
                #expect(try await provider.api.get("/compat/publisher/\(app)/notify").status == 404)
            }
            let figures = String(decoding: try await provider.api.get("/metrics").body, as: UTF8.self)
            let counted = #"martlet_api_requests_total{operation="compat.publisherNotifyPage",status="#
            #expect(figures.contains(counted + #""200"} 1"#))
            #expect(figures.contains(counted + #""404"} 3"#))
        }
    }
}
