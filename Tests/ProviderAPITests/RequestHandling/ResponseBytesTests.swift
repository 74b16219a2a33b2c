import Foundation
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import ProviderAPI

/// The memory of long responses, over a real port.
@Suite(.timeLimit(.patience)) struct ResponseBytesTests {
    private static let app = "/v1/apps/\(Vectors.bundleID)"
    private static let list = "\(LongTemplates.path)?limit=1000"

    /// - Parameter whole: The bytes of all responses.
    private func withProvider(
        whole: Int,
        _ body: @escaping @Sendable (RunningProvider, BudgetRegistry) async throws -> Void
    ) async throws {
        let limits = BudgetLimits(.init(whole: .held(whole), app: .timesFree(2), caller: .timesFree(1)))
        let noted = Noted()
        try await PushTesting.withProvider(
            senders: ScriptedSender(),
            addition: {
                noted.set($0.budgets)
                return nil
            },
            configure: { $0.budgetLimits[.responseBytes] = limits }
        ) { provider in
            try await provider.addVectorsApp()
            try await body(provider, try #require(noted.value))
        }
    }

    private static func waitUntilHeld(_ amount: Int, _ bytes: Budget) async throws {
        try await eventually { bytes.usage.held == amount }
    }

    private static func waitUntilWaiting(_ count: Int, _ turns: Budget) async throws {
        try await eventually { turns.usage.waiting == count }
    }

    /// A client that reads nothing of a long list keeps its bytes until it is gone.
    @Test func aLongResponseIsInMemoryUntilItIsRead() async throws {
        try await self.withProvider(whole: 3_000_000) { provider, budgets in
            let bytes = budgets[.responseBytes]
            try await provider.addLongTemplates(20)
            let list = try await provider.api.get(Self.list)
            #expect(list.status == 200 && list.body.count > 1 << 20)
            #expect(list.headers["content-length"] == "\(list.body.count)")
            try await Self.waitUntilHeld(0, bytes)
            let port = try #require(URL(string: provider.api.baseURL)?.port)
            let slow = try await RawConnection.open(port: port, isReading: false)
            let key = provider.api.apiKey ?? ""
            let request = "GET \(Self.list) HTTP/1.1\r\nhost: a\r\nauthorization: Bearer \(key)\r\n\r\n"
            // The system takes the first responses, in the buffers of the sockets. Each is made before other lists are asked
            // for, because it would be refused beside one of them.
            var refusals: [JSONClient.Response] = []
            while refusals.count < 100 {
                let made = try await provider.madeLists()
                slow.write(request.utf8)
                try await eventually { try await provider.madeLists() > made }
                refusals = []
                while refusals.count < 100, let refused = try await provider.refusal(of: Self.list),
                    bytes.usage.held == list.body.count
                {
                    refusals.append(refused)
                }
            }
            let refused = try #require(refusals.last)
            #expect(refused.code == "too_many_bytes")
            #expect(refused.headers["retry-after"] != nil)
            #expect(try await provider.api.get("/v1/apps").status == 200, "a short response needs none")
            await slow.close()
            try await Self.waitUntilHeld(0, bytes)
            #expect(try await provider.api.get(Self.list).body == list.body)
        }
    }

    /// The list is empty: its response itself would need no room.
    @Test func aLongListIsNotReadWithoutRoom() async throws {
        try await self.withProvider(whole: 1 << 20) { provider, _ in
            let refused = try await provider.api.get(Self.list)
            #expect(refused.status == 503 && refused.code == "too_many_bytes")
        }
        try await self.withProvider(whole: 4 << 20) { provider, budgets in
            let list = try await provider.api.get(Self.list)
            #expect(list.status == 200 && budgets[.responseBytes].usage.held == 0)
        }
    }

    /// Many lists made at once would keep all other requests from the processors.
    @Test func longListsAreMadeOneAfterTheOther() async throws {
        try await self.withProvider(whole: 16 << 20) { provider, budgets in
            try await provider.addLongTemplates(2)
            let turns = budgets[.longLists]
            let turn = try await turns.wait(for: BudgetCaller())
            async let list = provider.api.get(Self.list)
            try await Self.waitUntilWaiting(1, turns)
            #expect(try await provider.api.get("/v1/apps").status == 200)
            #expect(try await provider.api.get("\(Self.app)/audiences?limit=1000").status == 200, "it is short")
            let port = try #require(URL(string: provider.api.baseURL)?.port)
            let gone = try await RawConnection.open(port: port, isReading: true)
            let key = provider.api.apiKey ?? ""
            gone.write("GET \(Self.list) HTTP/1.1\r\nhost: a\r\nauthorization: Bearer \(key)\r\n\r\n".utf8)
            try await Self.waitUntilWaiting(2, turns)
            await gone.close()
            try await Self.waitUntilWaiting(1, turns)
            turn.end()
            let made = try await list
            #expect(made.status == 200 && turns.usage == (0, 0))
        }
    }

    /// The number of entries that are asked for decides, not how many there are.
    @Test(arguments: [
        "\(Self.app)/devices", "\(Self.app)/devices/\(Vectors.tokenA)/history", "\(Self.app)/users/anna/history",
        "\(Self.app)/tokens/events", "\(Self.app)/notifications", "/v1/notifications", "\(Self.app)/schedules",
        "\(Self.app)/files", "/v1/audit",
    ])
    func onlyALongPageNeedsRoomBeforeItIsRead(path: String) async throws {
        try await self.withProvider(whole: 1000) { provider, budgets in
            let refused = try await provider.api.get("\(path)?limit=1000")
            #expect(refused.status == 503 && refused.code == "too_many_bytes")
            for limit in ["?limit=10", ""] {
                #expect(try await provider.api.get("\(path)\(limit)").status == 200, "\(limit)")
            }
            for limit in ["0", "-9223372036854775808", "9223372036854775807", "x"] {
                #expect(try await provider.api.get("\(path)?limit=\(limit)").status == 400, "\(limit)")
            }
            #expect(budgets[.responseBytes].usage.held == 0)
        }
    }

    /// Its client would make the change again.
    @Test func aChangeThatWasMadeIsNotRefused() async throws {
        try await self.withProvider(whole: 1000) { provider, budgets in
            let saved = try await provider.api.put("\(LongTemplates.path)/t0", LongTemplates.saved)
            #expect(saved.status == 201 && saved.body.count > 1 << 16)
            #expect(saved.json["content"] == LongTemplates.content)
            let refused = try await provider.api.get("\(LongTemplates.path)/t0")
            #expect(refused.status == 503 && refused.code == "too_many_bytes")
            try await Self.waitUntilHeld(0, budgets[.bodyBytes])
            #expect(budgets[.responseBytes].usage.held == 0)
        }
    }

    /// A file is read as it is sent, and the document is in memory once.
    @Test func whatTakesNoMemoryOfItsOwnIsOnNoAccount() async throws {
        let limits = BudgetLimits(.init(whole: .held(1000), app: .timesFree(2), caller: .timesFree(1)))
        try await withPublishing(configure: { $0.budgetLimits[.responseBytes] = limits }) { fixture in
            let content = Data(repeating: 7, count: 300_000)
            let file = try await fixture.upload(content)
            _ = try await fixture.addIssue("issue1", renditions: ["1024x768": file])
            let path = "\(PublishingFixture.app)/issues/issue1:download"
            let answer = try await fixture.reader.post(path, ["screenSize": "2048x1536"])
            let url = try #require(answer.json["url"].stringValue)
            #expect(try await fixture.reader.get(url).body == content)
            let document = try await fixture.api.get("/openapi.json")
            #expect(document.status == 200 && document.body.count > 1 << 16)
        }
    }

    /// The pages of a list with long bodies have about a megabyte each, and together everything.
    @Test func aPageOfLongTemplatesOrVersionsEndsAfterAMegabyte() async throws {
        try await self.withProvider(whole: 128 << 20) { provider, _ in
            try await provider.addLongTemplates(20)
            for _ in 0..<19 { try await provider.api.put("\(LongTemplates.path)/t0", LongTemplates.saved) }
            for (path, name) in [(LongTemplates.path, "templates"), ("\(LongTemplates.path)/t0/versions", "versions")] {
                let first = try await provider.api.get("\(path)?limit=1000").json
                let next = try #require(first["next"].stringValue)
                let rest = try await provider.api.get("\(path)?limit=1000&cursor=\(next)").json
                #expect(first[name].elements.count == 17 && rest["next"] == .null)
                let all = first[name].elements + rest[name].elements
                let member = name == "templates" ? "name" : "version"
                #expect(all.count == 20 && Set(all.map { $0[member] }).count == 20)
            }
        }
    }
}

extension RunningProvider {
    /// Returns the number of lists that were made, as the metrics have it.
    fileprivate func madeLists() async throws -> Int {
        let metrics = String(decoding: try await self.api.get("/metrics").body, as: UTF8.self)
        let name = #"martlet_api_requests_total{operation="listTemplates",status="200"} "#
        let line = metrics.split(separator: "\n").first { $0.hasPrefix(name) }
        return try #require(line.flatMap { Int($0.dropFirst(name.count)) })
    }

    /// Returns the response to a request that is refused; `nil` if it is not.
    fileprivate func refusal(of path: String) async throws -> JSONClient.Response? {
        let response = try await self.api.get(path)
        return response.status == 503 ? response : nil
    }
}

/// The budgets of the provider.
private final class Noted: Sendable {
    private let state = Mutex<BudgetRegistry?>(nil)

    var value: BudgetRegistry? { self.state.withLock { $0 } }

    func set(_ budgets: BudgetRegistry) { self.state.withLock { $0 = budgets } }
}
