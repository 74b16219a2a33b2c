import Foundation
import ProviderModel
import PushStore
import PushTesting
import PushTypes
import Testing

/// The contract of every ``SessionStore``.
@Suite(.timeLimit(.patience)) struct SessionStoreContract: StoreContract {
    @Test(arguments: StoreBackend.available)
    func aSessionIsFoundByItsHashWithItsHolderOfNow(backend: StoreBackend) async throws {
        try await backend.withStore { store, _ in
            let anna = try await store.addPerson("anna", password: "p")
            let signIn = SignInRecord.fixture(anna.id, 77, now: self.now)
            #expect(try await store.signIn(signIn, anna, password: "p", renewed: nil))
            #expect(try await store.session(hash: [77])?.record == signIn.session)
            #expect(try await store.session(hash: [78]) == nil)
            _ = try await store.changePerson(anna.id) { $0.language = "de" }
            guard case .person(let person) = try await store.session(hash: [77])?.holder else {
                Issue.record("a change of the language ends no session")
                return
            }
            #expect(person.language == "de")
            let used = self.now.advanced(by: .seconds(90))
            try await store.setLastUse(of: signIn.session.id, used, now: used)
            #expect(try await store.session(hash: [77])?.record.lastUsedAt == used)
            #expect(try await store.person(anna.id)?.lastSeenAt == used)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aSessionOfAKeyEndsWithTheKey(backend: StoreBackend) async throws {
        try await backend.withStore { store, _ in
            let key = APIKeyRecord(id: UUID(), name: "ci", scopes: [.read], createdAt: self.now)
            try await store.addKey(key, hash: [1])
            var signIn = SignInRecord.fixture(UUID(), 5, now: self.now)
            signIn.session.holder = .key(key.id)
            #expect(try await store.signIn(signIn, key: key.id))
            #expect(try await store.session(hash: [5])?.holder == .key(key))
            #expect(try await store.sessions(of: .person(key.id)).isEmpty)
            #expect(try await store.deleteKey(key.id) == .deleted)
            #expect(try await store.session(hash: [5]) == nil)
            #expect(try await !store.signIn(signIn, key: key.id))
        }
    }

    /// What may change what a person may do ends the sessions of the person, and of no other.
    @Test(arguments: StoreBackend.available)
    func sessionsEndWithWhatTheyWereBegunFor(backend: StoreBackend) async throws {
        try await backend.withStore { store, _ in
            let bert = try await store.addPerson("bert", password: "p")
            let own = try #require(Topic(Vectors.bundleID))
            let ends: [@Sendable (UUID) async throws -> Void] = [
                { id in _ = try await store.changePerson(id) { $0.role = .viewer } },
                { id in _ = try await store.changePerson(id) { $0.apps = [own] } },
                { id in _ = try await store.changePerson(id) { $0.isDisabled = true } },
                { id in _ = try await store.setPassword("q", of: id, replacing: "p") },
                { id in try await store.endSessions(of: .person(id)) },
                { id in _ = try await store.deletePerson(id) },
            ]
            for (number, end) in ends.enumerated() {
                let anna = try await store.addPerson("anna \(number)", password: "p")
                #expect(try await store.sessions(of: .person(anna.id)).count == 1)
                try await end(anna.id)
                #expect(try await store.sessions(of: .person(anna.id)).isEmpty, "\(number)")
                #expect(try await store.sessions(of: .person(bert.id)).count == 1)
            }
        }
    }

    /// A password that was right when it was checked is not enough: it must be the stored one when the session begins.
    @Test(arguments: StoreBackend.available)
    func noSessionBeginsWithAPasswordThatHasChangedMeanwhile(backend: StoreBackend) async throws {
        try await backend.withStore { store, _ in
            let anna = try await store.addPerson("anna", password: "p")
            let signIn = SignInRecord.fixture(anna.id, 77, now: self.now)
            #expect(try await store.setPassword("q", of: anna.id, replacing: "p"))
            #expect(try await !store.setPassword("r", of: anna.id, replacing: "p"))
            #expect(try await !store.signIn(signIn, anna, password: "p", renewed: nil))
            #expect(try await store.signIn(signIn, anna, password: "q", renewed: "s"))
            #expect(try await store.password(of: anna.id) == "s")
            _ = try await store.changePerson(anna.id) { $0.isDisabled = true }
            #expect(try await !store.signIn(signIn, anna, password: "s", renewed: nil))
            #expect(try await store.password(of: anna.id) == nil)
            #expect(try await store.deletePerson(anna.id) == .deleted)
            #expect(try await !store.signIn(signIn, anna, password: "s", renewed: nil))
        }
    }

    @Test(arguments: StoreBackend.available)
    func aHolderHasSoManySessionsAndExpiredOnesGo(backend: StoreBackend) async throws {
        try await backend.withStore { store, _ in
            let anna = try await store.addPerson("anna", password: "p")
            for number in 0..<30 {
                let now = self.now.advanced(by: .seconds(Int64(number)))
                let signIn = SignInRecord.fixture(anna.id, UInt8(100 + number), now: now, agent: "\(number)")
                #expect(try await store.signIn(signIn, anna, password: "p", renewed: nil))
            }
            let sessions = try await store.sessions(of: .person(anna.id))
            #expect(sessions.map(\.agent) == (10..<30).reversed().map { "\($0)" })
            // An hour without a use ends them; the next session deletes their rows.
            let later = SignInRecord.fixture(anna.id, 99, now: self.now.advanced(by: .seconds(3615)), agent: "later")
            #expect(try await store.signIn(later, anna, password: "p", renewed: nil))
            let rest = try await store.sessions(of: .person(anna.id)).map(\.agent)
            #expect(rest == ["later"] + (16..<30).reversed().map { "\($0)" })
        }
    }

    @Test(arguments: StoreBackend.available)
    func aSessionIsEndedByItsHolderOnly(backend: StoreBackend) async throws {
        try await backend.withStore { store, _ in
            let anna = try await store.addPerson("anna", password: "p")
            let bert = try await store.addPerson("bert", password: "p")
            let session = try #require(try await store.sessions(of: .person(anna.id)).first)
            #expect(try await !store.endSession(session.id, of: .person(bert.id)))
            #expect(try await !store.endSession(session.id, of: .key(anna.id)))
            #expect(try await store.endSession(session.id, of: .person(anna.id)))
            #expect(try await !store.endSession(session.id, of: .person(anna.id)))
        }
    }

    @Test(arguments: StoreBackend.available)
    func aNetworkIsKnownOnceThePersonHasSignedInFromIt(backend: StoreBackend) async throws {
        try await backend.withStore { store, _ in
            let anna = try await store.addPerson("Anna", password: "p")
            for network in 1...12 {
                let now = self.now.advanced(by: .seconds(Int64(network)))
                let signIn = SignInRecord.fixture(anna.id, UInt8(100 + network), network: UInt8(network), now: now)
                #expect(try await store.signIn(signIn, anna, password: "p", renewed: nil))
            }
            var known: [Int] = []
            for network in 0...13 {
                let candidate = try await store.signInCandidate(name: "ANNA", network: [UInt8(network)])
                #expect(candidate?.person.id == anna.id)
                #expect(candidate?.password == "p")
                if candidate?.isKnownNetwork == true { known.append(network) }
            }
            #expect(known == Array(3...12), "the ten latest ones")
            #expect(try await store.signInCandidate(name: "bert", network: [3]) == nil)
        }
    }

    /// A lock survives a restart, and is that of a name whether anybody has it.
    @Test(arguments: StoreBackend.available)
    func aNameIsLockedWhateverItsCaseUntilItsPersonSignsIn(backend: StoreBackend) async throws {
        try await backend.withStore { store, _ in
            let anna = try await store.addPerson("anna", password: "p")
            for name in ["anna", "nobody"] {
                for _ in 0..<5 {
                    let decision = try await store.changeSignInLock(of: name, now: self.now) { [now] in
                        $0.attempt(now: now, .name)
                    }
                    #expect(decision == .proceed)
                }
                let decision = try await store.changeSignInLock(of: name.uppercased(), now: self.now) { [now] in
                    $0.attempt(now: now, .name)
                }
                #expect(decision == .wait(.seconds(60)))
            }
            let signIn = SignInRecord.fixture(anna.id, 77, now: self.now)
            #expect(try await store.signIn(signIn, anna, password: "p", renewed: nil))
            let failures = try await store.changeSignInLock(of: "anna", now: self.now) { $0.failures }
            #expect(failures == 0)
            #expect(try await store.changeSignInLock(of: "nobody", now: self.now) { $0.failures } == 5)
        }
    }
}
