import PushSupport
import PushTypes
import Synchronization
import Testing

@testable import PushBridges

@Suite struct KeyDerivationQueueTests {
    private let thread = ManualThread()

    private func derivation(_ name: String) -> PBKDF2Derivation {
        PBKDF2Derivation(hash: .sha256, password: name, salt: [1], rounds: 100_000)
    }

    /// Before, the keys of an app with many sessions came before all that were wanted after them.
    @Test func appsTakeTurnsAndServersOfAnAppDo() throws {
        let (one, other) = (try #require(Topic("com.example.One")), try #require(Topic("com.example.Other")))
        let derivations = self.thread.derivations()
        let wanted: [(String, Topic, String)] = [
            ("one 1", one, "a"), ("one 2", one, "a"), ("one 3", one, "a"), ("one 4", one, "a"), ("one's b", one, "b"),
            ("other", other, "c"),
        ]
        for (name, app, server) in wanted {
            _ = derivations.derive(self.derivation(name), for: BudgetCaller(app: app, .name(server))) { _ in }
        }
        self.thread.runAll()
        #expect(self.thread.derived == ["one 1", "one 2", "other", "one's b", "one 3", "one 4"])
    }

    @Test func aKeyThatNobodyWantsIsNotDerived() throws {
        let caller = BudgetCaller(app: Topic("com.example.One"), .name("a"))
        let keys = Mutex<[[UInt8]]>([])
        let derivations = self.thread.derivations()
        var jobs: [KeyDerivationQueue.Job] = []
        for name in ["first", "second", "third"] {
            let job = derivations.derive(self.derivation(name), for: caller) { key in
                keys.withLock { $0.append(key) }
            }
            jobs.append(job)
        }
        for job in jobs.prefix(2) { job.cancel() }
        self.thread.runAll()
        let received = keys.withLock { $0 }
        #expect(self.thread.derived == ["third"] && received == [[42]])
        // The thread is free for the next one.
        _ = derivations.derive(self.derivation("fourth"), for: caller) { _ in }
        self.thread.runAll()
        #expect(self.thread.derived == ["third", "fourth"])
    }

    @Test func theKeyIsThatOfThePassword() async throws {
        let caller = BudgetCaller(app: Topic("com.example.One"), .name("a"))
        let derivation = PBKDF2Derivation(hash: .sha1, password: "password", salt: Array("salt".utf8), rounds: 2)
        let key: [UInt8] = await withCheckedContinuation { continuation in
            _ = KeyDerivationQueue.shared.derive(derivation, for: caller) { continuation.resume(returning: $0) }
        }
        #expect(key == derivation.key() && key.count == 20)
    }
}
