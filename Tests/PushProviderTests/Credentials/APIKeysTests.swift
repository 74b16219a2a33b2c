import ProviderModel
import PushSupport
import PushTesting
import Testing

@testable import PushProvider

/// The keys of clients whose address has sent too many wrong ones.
@Suite(.timeLimit(.patience)) struct APIKeysTests {
    /// Behind a proxy all clients have one address, and a start is no reason to refuse those with a key.
    @Test func aRestartKnowsTheKeysThatThereAre() async throws {
        try await StoreBackend.available[0].withStore { store, _ in
            let time = ManualTime()
            let before = try await APIKeys(store: store, time: time, logger: silentLogger)
            let (key, text) = try await before.issue(name: "ci", scopes: [.read])
            let again = try await APIKeys(store: store, time: time, logger: silentLogger)
            let start = ContinuousClock.now
            let wrong = Budget(.wrongSecrets) { start }
            let client = BudgetCaller(.network([192, 0, 2, 1]))
            for _ in 0..<20 { #expect(try await again.check("mk_wrong", wrong: wrong, of: client) == nil) }
            await #expect(throws: BudgetRefusal.self) { try await again.check("mk_wrong", wrong: wrong, of: client) }
            #expect(try await again.check(text, wrong: wrong, of: client)?.id == key.id)
            let other = BudgetCaller(.network([192, 0, 2, 2]))
            #expect(try await again.check("mk_wrong", wrong: wrong, of: other) == nil)
        }
    }
}
