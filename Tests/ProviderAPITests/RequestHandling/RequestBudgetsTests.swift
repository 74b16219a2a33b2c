import Foundation
import NIOCore
import NIOEmbedded
import PushHTTP
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import ProviderAPI

/// The budgets of requests: of keys, apps' forms and bridges, and long bodies.
@Suite(.timeLimit(.patience)) struct RequestBudgetsTests {
    private let start = ContinuousClock.now

    private func budgets(_ keyRate: Int) -> BudgetRegistry {
        var configuration = ProviderConfiguration(dataDirectory: "")
        configuration.limits.keyRate = keyRate
        return BudgetRegistry(configuration.budgets) { [start] in start }
    }

    @Test func eachKeyHasARateOfItsOwn() throws {
        let budgets = self.budgets(1)
        let (first, second) = (Self.key(), Self.key())
        for _ in 0..<2 { try budgets.countRequest(of: first) }
        let refusal = #expect(throws: BudgetRefusal.self) { try budgets.countRequest(of: first) }
        let refused: any Error = try #require(refusal)
        let error = try #require(RetryLaterError(refused))
        #expect(error.error.kind == .rateLimited)
        #expect(error.seconds == "2")
        #expect(throws: Never.self) { try budgets.countRequest(of: second) }
        // Long bodies wait longer and longer, short ones never do.
        #expect(try budgets.bodyDelay(of: first.account, bytes: 8 << 20) == .zero)
        #expect(try budgets.bodyDelay(of: first.account, bytes: 8 << 20) == .seconds(1))
        #expect(try budgets.bodyDelay(of: first.account, bytes: 1000) == .zero)
        #expect(throws: BudgetRefusal.self) { try budgets.bodyDelay(of: first.account, bytes: 100 << 20) }
        #expect(try budgets.bodyDelay(of: first.account, bytes: 8 << 20) == .seconds(2))
        #expect(try budgets.bodyDelay(of: second.account, bytes: 8 << 20) == .zero)
        let free = self.budgets(0)
        for _ in 0..<10_000 { try free.countRequest(of: first) }
    }

    /// A key's own rate counts in place of the server's, and a new one from the next request on.
    @Test(arguments: [0, 1, 100]) func aKeyMayHaveItsOwnRate(server: Int) throws {
        let budgets = self.budgets(server)
        let key = Self.key(rate: 3)
        for _ in 0..<6 { try budgets.countRequest(of: key) }
        let refusal = #expect(throws: BudgetRefusal.self) { try budgets.countRequest(of: key) }
        #expect(refusal?.error.error.message.contains("3 requests a second") == true)
        let faster = Self.key(id: key.id, rate: 5)
        for _ in 0..<10 { try budgets.countRequest(of: faster) }
        #expect(throws: BudgetRefusal.self) { try budgets.countRequest(of: faster) }
    }

    /// Forms, which anybody can post, take nothing of what an app's bridges have.
    @Test func bridgesHaveARateOfTheirOwn() throws {
        let budgets = self.budgets(1)
        let app = try #require(Topic("com.example.MyApp"))
        let client = BudgetCaller(app: app, .network([192, 0, 2, 1]))
        for _ in 0..<2 { try budgets.countForm(of: client) }
        #expect(throws: BudgetRefusal.self) { try budgets.countForm(of: client) }
        for _ in 0..<2 { try budgets.countBridgeRequest(of: app) }
        #expect(throws: BudgetRefusal.self) { try budgets.countBridgeRequest(of: app) }
    }

    /// Before, one stranger took all forms of an app.
    @Test func anAddressHasATenthOfAnAppsForms() throws {
        let budgets = self.budgets(20)
        let app = try #require(Topic("com.example.MyApp"))
        let (first, second) = (BudgetCaller(app: app, .network([1])), BudgetCaller(app: app, .network([2])))
        for _ in 0..<4 { try budgets.countForm(of: first) }
        let refusal = #expect(throws: BudgetRefusal.self) { try budgets.countForm(of: first) }
        #expect(refusal?.level == .caller)
        for _ in 0..<4 { try budgets.countForm(of: second) }
        let free = self.budgets(0)
        for _ in 0..<10_000 { try free.countForm(of: first) }
    }

    /// Before, a site of IPv6 had the rate of each of its 65,536 networks, and so took that of an app or of a key.
    @Test func theNetworksOfASiteShareItsRates() throws {
        var configuration = ProviderConfiguration(dataDirectory: "")
        (configuration.limits.keyRate, configuration.limits.publicKeyRate) = (20, 1)
        let budgets = BudgetRegistry(configuration.budgets) { [start] in start }
        let app = try #require(Topic("com.example.MyApp"))
        func connection(_ address: String) throws -> EmbeddedChannel {
            let channel = EmbeddedChannel()
            channel.remoteAddress = try SocketAddress(ipAddress: address, port: 99)
            return channel
        }
        let networks = try (0..<5).map { try connection("2001:db8:1:\($0)::7") }
        for network in networks[..<2] { try budgets.countPublicRequest(from: network) }
        #expect(throws: BudgetRefusal.self) { try budgets.countPublicRequest(from: networks[2]) }
        try budgets.countPublicRequest(from: try connection("2001:db8:2::7"))
        let clients = try networks.map { try #require(BudgetCaller(app: app, from: $0)) }
        for client in clients[..<4] { try budgets.countForm(of: client) }
        #expect(throws: BudgetRefusal.self) { try budgets.countForm(of: clients[4]) }
    }

    @Test func anAddressLeavesAnAppsMessagesToOthers() throws {
        let messages = self.budgets(1)[.pushMessages]
        let app = try #require(Topic("com.example.MyApp"))
        let (first, second) = (BudgetCaller(app: app, .network([1])), BudgetCaller(app: app, .network([2])))
        var held: [BudgetPermit] = []
        for _ in 0..<128 { held.append(try messages.take(for: first)) }
        let refusal = #expect(throws: BudgetRefusal.self) { try messages.take(for: first) }
        #expect(refusal?.level == .caller)
        held.append(try messages.take(for: second))
        #expect(messages.usage.held == 129)
    }

    private static func key(id: UUID = UUID(), rate: Int? = nil) -> APICaller {
        APICaller(id: id, name: "ci", scopes: ["send"], rate: rate)
    }
}
