import Foundation
import HTTPTypes
import Hummingbird
import NIOHTTP1
import ProviderAPI
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushBridges

/// The memory of old servers' answers, which is that of long bodies.
@Suite(.timeLimit(.patience)) struct ShadowMemoryTests {
    private static let gorush = "/gorush/shop/api/push"
    private static let account = BudgetCaller(app: Topic(Vectors.bundleID))

    private static var push: JSONValue {
        let push: JSONValue = ["platform": 1, "tokens": [.string(Vectors.tokenA)], "message": "It is ready"]
        return ["notifications": [push]]
    }

    /// Returns the longest answer to a small request to a bridge of a kind.
    private static func longest(_ kind: String) -> Int {
        64 * 1024 + (kind == "gorush" ? 512 + 6 * "It is ready".utf8.count : 0)
    }

    /// Sends a small request to a bridge of a kind.
    private static func post(_ kind: String, _ provider: RunningProvider) async throws -> JSONClient.Response {
        guard kind == "fcm" else { return try await provider.api.post(Self.gorush, Self.push) }
        let message: JSONValue = ["token": .string(Vectors.tokenA), "notification": ["title": "Tea"]]
        return try await provider.api.post("/v1/projects/shop/messages:send", ["message": message])
    }

    /// Runs a provider whose bridge of a kind is in the shadow of an old server.
    private static func withShadow(
        _ kind: String,
        answering answer: JSONValue = [:],
        after gate: Gate? = nil,
        _ body: @escaping @Sendable (RunningProvider, OldServer, Budget) async throws -> Void
    ) async throws {
        try await OldServer.run(answering: answer, after: gate) { server, url in
            let parts = Mutex<ProviderComponents?>(nil)
            try await withBridges(capture: { value in parts.withLock { $0 = value } }) { provider in
                let bytes = try #require(parts.withLock { $0 }).budgets[.bodyBytes]
                let settings: JSONValue = ["shadow": ["upstream": .string(url)]]
                #expect(try await provider.setBridge(kind, "shop", settings).status == 200)
                try await body(provider, server, bytes)
            }
        }
    }

    /// A small request with a long answer takes what the answer may have, before anybody is asked.
    @Test(arguments: ["gorush", "fcm"]) func aRequestHasRoomForItsAnswer(kind: String) async throws {
        let gate = Gate()
        try await Self.withShadow(kind, after: gate) { provider, server, bytes in
            let asking = Task { try await Self.post(kind, provider) }
            try await server.waitForRequests(1)
            let longest = Self.longest(kind)
            #expect(bytes.usage(of: Self.account).held == longest)
            gate.open()
            #expect(try await asking.value.status == 200)
            try await eventually { bytes.usage.held == 0 }
        }
    }

    /// The old server sends what the bridge does not: its client must try again.
    @Test(arguments: ["gorush", "fcm"]) func withoutRoomNobodyIsAsked(kind: String) async throws {
        try await Self.withShadow(kind) { provider, server, bytes in
            let others = try bytes.take(64 << 20, for: Self.account)
            let refused = try await Self.post(kind, provider)
            #expect(refused.status == 503 && refused.headers["retry-after"] != nil)
            #expect(server.asked.isEmpty)
            let difference = try #require(try await provider.shadow(kind, "shop")["differences"].elements.first)
            #expect(difference["subject"] == "upstream")
            #expect(difference["theirs"].stringValue?.hasPrefix("not asked: ") == true)
            others.end()
            #expect(try await Self.post(kind, provider).status == 200)
            #expect(server.asked.count == 1)
            try await eventually { bytes.usage.held == 0 }
        }
    }

    @Test(arguments: ["gorush", "fcm"]) func aLongerAnswerIsNone(kind: String) async throws {
        let long = JSONValue.string(String(repeating: "a", count: 128 * 1024))
        try await Self.withShadow(kind, answering: ["long": long]) { provider, server, bytes in
            let longest = Self.longest(kind)
            #expect(try await Self.post(kind, provider).status == (kind == "gorush" ? 502 : 503))
            #expect(server.asked.count == 1)
            let difference = try #require(try await provider.shadow(kind, "shop")["differences"].elements.first)
            #expect(difference["theirs"].stringValue?.contains("more than \(longest) bytes") == true)
            try await eventually { bytes.usage.held == 0 }
        }
    }

    /// Before, the client of an old server that had pushed to all of them was told to try again.
    @Test func theFailuresOfManyTokensAreHandedOn() async throws {
        let tokens = (0..<5000).map { JSONValue.string("token\($0)") }
        let push: JSONValue = ["platform": 1, "tokens": .array(tokens), "message": "It is ready"]
        let long = JSONValue.string(String(repeating: "a", count: 2 << 20))
        try await Self.withShadow("gorush", answering: ["long": long]) { provider, _, bytes in
            let response = try await provider.api.post(Self.gorush, ["notifications": [push]])
            #expect(response.status == 200 && response.body.count > 2 << 20)
            try await eventually { bytes.usage.held == 0 }
        }
    }

    @Test func anAnswerHasRoomForEachToken() throws {
        let (short, maximum) = (ShadowForwarder.shortAnswer, ShadowForwarder.maximumAnswer)
        #expect(ShadowForwarder.longestAnswer(withEntriesOf: 0) == short)
        #expect(ShadowForwarder.longestAnswer(withEntriesOf: 6120) == short + 6120)
        #expect(ShadowForwarder.longestAnswer(withEntriesOf: maximum - short) == maximum)
        #expect(ShadowForwarder.longestAnswer(withEntriesOf: .max) == maximum)
        // The old server pushes to those of other platforms too.
        let android: JSONValue = ["platform": 2, "tokens": ["a", "b"], "topic": "news"]
        let request = try GorushRequest(try JSONValue.object(["notifications": [android]]).text)
        #expect(request.longestEntries == 3 * 512 && request.count == 0)
        // The tokens are repeated once each, and only the message for all of them.
        let tokens = (0..<400).map { JSONValue.string(String(repeating: "a", count: 64) + "\($0)") }
        let apple: JSONValue = ["platform": 1, "tokens": .array(tokens), "message": "It is ready"]
        let many = try GorushRequest(try JSONValue.object(["notifications": [apple]]).text)
        #expect(many.longestEntries == 400 * (512 + 66))
    }

    /// A client that does not read its response holds its bytes.
    @Test func aResponseHoldsItsBytesUntilItIsGone() throws {
        let bytes = Budget(.bodyBytes)
        var response: Response? = try Self.response(holding: bytes)
        #expect(response?.headers[.contentLength] == "2")
        #expect(bytes.usage.held == 2)
        response = nil
        #expect(bytes.usage.held == 0)
    }

    private static func response(holding bytes: Budget) throws -> Response {
        let held = try bytes.take(2, for: Self.account)
        return ShadowForwarder.response(
            ShadowForwarder.Answer(status: 200, headers: [:], body: Data("{}".utf8), held: held)
        )
    }

    @Test func theDifferencesOfOneRequestAreBounded() throws {
        let count = 3 * ShadowComparison.maximumDifferences
        let entries = (0..<count).map { number in
            JSONValue.object(["token": .string("token\(number)"), "error": "BadDeviceToken"])
        }
        let answer = GorushResponse(status: 200, body: try JSONValue.object(["logs": .array(entries)]).text)
        #expect(answer.reasons.count == count)
        let request = try GorushRequest(try Self.push.text, maximum: 1)
        let comparison = ShadowComparison(request, [], answer, at: Vectors.issuedAt)
        #expect(comparison.differences.count == ShadowComparison.maximumDifferences)
    }
}
