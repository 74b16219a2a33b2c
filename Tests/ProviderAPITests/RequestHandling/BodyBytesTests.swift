import Foundation
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import ProviderAPI

/// The memory of long bodies, over a real port.
@Suite(.timeLimit(.patience)) struct BodyBytesTests {
    private static let path = "/v1/apps/\(Vectors.bundleID)/audience:count"
    private static let long = Data(repeating: 0x20, count: 400_000)

    private func waitUntilHeld(_ amount: Int, _ bytes: Budget) async throws {
        try await eventually { bytes.usage.held == amount }
    }

    /// A client that drips a long body keeps its bytes until it is gone. A response, also that to an error, gives them back.
    @Test func longBodiesAreInMemoryUntilTheirResponses() async throws {
        let limits = BudgetLimits(.init(whole: .held(1_000_000), app: .timesFree(2), caller: .timesFree(1)))
        let noted = Noted()
        try await withProvider(
            senders: ScriptedSender(),
            addition: {
                noted.set($0.budgets)
                return nil
            },
            configure: {
                $0.budgetLimits[.bodyBytes] = limits
                $0.budgetLimits[.longBodies] = BudgetLimits(.init())
            }
        ) { provider in
            let budget = try #require(noted.value)[.bodyBytes]
            try await provider.addVectorsApp()
            for _ in 0..<5 { #expect(try await provider.api.call("POST", Self.path, Self.long).status == 400) }
            #expect(budget.usage.held == 0)
            let port = try #require(URL(string: provider.api.baseURL)?.port)
            let head = """
                POST \(Self.path) HTTP/1.1\r\nhost: a\r\nauthorization: Bearer \(provider.api.apiKey ?? "")\r
                content-length: \(Self.long.count)\r\n\r\n
                """
            let slow = try await RawConnection.open(port: port)
            slow.write(head.utf8)
            try await self.waitUntilHeld(Self.long.count, budget)
            let refused = try await RawConnection.open(port: port)
            refused.write(head.utf8)
            let response = String(decoding: await refused.readToEnd(), as: UTF8.self)
            #expect(response.hasPrefix("HTTP/1.1 503"))
            #expect(response.contains("too_many_bytes"))
            #expect(response.lowercased().contains("retry-after: "))
            #expect(try await provider.api.get("/v1/apps").status == 200, "a request without a long body needs none")
            await slow.close()
            try await self.waitUntilHeld(0, budget)
            #expect(try await provider.api.call("POST", Self.path, Self.long).status == 400)
        }
    }

    /// All copies of an app have its public key, so that what one of them announces holds nothing of the others'.
    @Test func theBodyOfAPublicKeyIsOnTheAccountOfItsClient() async throws {
        let noted = Noted()
        try await withProvider(
            senders: ScriptedSender(),
            addition: {
                noted.set($0.budgets)
                return nil
            },
            configure: { $0.limits.publicKeyRate = 0 }
        ) { provider in
            let budget = try #require(noted.value)[.bodyBytes]
            try await provider.addVectorsApp()
            let members: JSONValue = ["name": "app", "scopes": ["registerSelf"], "apps": [.string(Vectors.bundleID)]]
            var reader = provider.api
            reader.apiKey = try await provider.api.post("/v1/keys", members).json["key"].stringValue
            let path = "/v1/apps/\(Vectors.bundleID)/entitlements"
            let port = try #require(URL(string: provider.api.baseURL)?.port)
            let slow = try await RawConnection.open(port: port)
            let head = """
                POST \(path) HTTP/1.1\r\nhost: a\r\nauthorization: Bearer \(reader.apiKey ?? "")\r
                content-length: \(Self.long.count)\r\n\r\n
                """
            slow.write(Array(head.utf8) + Array(Self.long.prefix(100_000)))
            let client = BudgetCaller(app: Topic(Vectors.bundleID), .network([127, 0, 0, 1]))
            try await eventually { budget.usage(of: client).held >= 100_000 }
            #expect(budget.usage.held < 200_000, "what has arrived, and not what was announced")
            await slow.close()
            try await self.waitUntilHeld(0, budget)
            #expect(try await reader.call("POST", path, Self.long).status == 400)
            let longest = Data(repeating: 0x20, count: 600_000)
            #expect(try await reader.call("POST", path, longest).status == 413, "no proof is as long")
        }
    }
}

/// The budgets of the provider.
private final class Noted: Sendable {
    private let state = Mutex<BudgetRegistry?>(nil)

    var value: BudgetRegistry? { self.state.withLock { $0 } }

    func set(_ budgets: BudgetRegistry) { self.state.withLock { $0 = budgets } }
}
