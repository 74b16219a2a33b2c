import Foundation
import ProviderModel
import PushStore
import PushTesting
import PushTypes
import Testing

/// The contract of every ``PersonStore``.
@Suite(.timeLimit(.patience)) struct PersonStoreContract: StoreContract {
    @Test(arguments: StoreBackend.available)
    func aNameBelongsToOnePersonWhateverItsCase(backend: StoreBackend) async throws {
        try await backend.withStore { store, _ in
            let anna = try await store.addPerson("Anna")
            #expect(try await store.person(anna.id) == anna)
            for name in ["anna", "ANNA", "\u{ff21}nna", "Anna"] {
                let other = PersonRecord(name: name, role: .viewer, createdAt: self.now)
                #expect(try await store.addPerson(other, link: .fixture(1, for: other.id)) == nil, "\(name)")
            }
            let bert = try await store.addPerson("Bert")
            #expect(try await store.changePerson(bert.id) { $0.name = "aNNa" } == .nameTaken)
            var renamed = anna
            renamed.name = "ANNA"
            #expect(try await store.changePerson(anna.id) { $0.name = "ANNA" } == .changed(renamed))
            #expect(try await store.people(after: nil, limit: 10).map(\.name) == ["ANNA", "Bert"])
            #expect(try await store.people(after: renamed.number, limit: 10).map(\.name) == ["Bert"])
            #expect(try await store.people(after: nil, limit: 1).map(\.name) == ["ANNA"])
        }
    }

    @Test(arguments: StoreBackend.available)
    func aPersonIsLimitedToAppsThatExist(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let missing = try #require(Topic("com.example.Missing"))
            var person = PersonRecord(name: "anna", role: .author, apps: [missing], createdAt: self.now)
            await #expect(throws: StoreError.noSuchApp(missing)) {
                try await store.addPerson(person, link: .fixture(1, for: person.id))
            }
            let own = try #require(Topic(Vectors.bundleID))
            person.apps = [own]
            let added = try #require(try await store.addPerson(person, link: .fixture(1, for: person.id)))
            await #expect(throws: StoreError.noSuchApp(missing)) {
                try await store.changePerson(added.id) { $0.apps = [own, missing] }
            }
            #expect(try await store.person(added.id)?.apps == [own])
            // A person of an erased app only has no app then, and not all of them.
            let erasure = try #require(try await store.eraseApp(app, now: self.now, steady: self.now))
            while try await store.continueErasure(erasure, now: self.later) {}
            #expect(try await store.person(added.id)?.apps == [])
        }
    }

    @Test(arguments: StoreBackend.available)
    func ofAdminsWhoEndEachOtherOneStays(backend: StoreBackend) async throws {
        for _ in 1...10 {
            try await backend.withStore { store, _ in
                var people: [PersonRecord] = []
                for number in 0..<4 { people.append(try await store.addPerson("\(number)", .admin, password: "p")) }
                let invited = try await store.addPerson("invited", .admin)
                let results = try await withThrowingTaskGroup(of: Bool.self) { group in
                    for (number, person) in people.enumerated() {
                        group.addTask {
                            switch number {
                            case 0: try await store.changePerson(person.id) { $0.role = .viewer } == .lastAdmin
                            case 1: try await store.changePerson(person.id) { $0.isDisabled = true } == .lastAdmin
                            default: try await store.deletePerson(person.id) == .lastAdmin
                            }
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(results.count { $0 } == 1)
                let lasting = try await store.people(after: nil, limit: 10).filter(\.isLastingAdmin)
                #expect(lasting.count == 1)
                // Who has no password yet may go.
                #expect(try await store.deletePerson(invited.id) == .deleted)
                #expect(try await store.deletePerson(invited.id) == .missing)
            }
        }
    }

    @Test(arguments: StoreBackend.available)
    func aLinkIsRedeemedOnce(backend: StoreBackend) async throws {
        for _ in 1...10 {
            try await backend.withStore { store, _ in
                let person = try await store.addPerson("anna", link: 9)
                #expect(try await store.link(hash: [9], now: self.now) == .person(person))
                let results = try await withThrowingTaskGroup(of: PersonRecord?.self) { group in
                    for number in 0..<8 {
                        let signIn = SignInRecord.fixture(person.id, UInt8(number), now: self.now)
                        group.addTask {
                            try await store.redeem(link: [9], for: person, password: "\(number)", signIn)
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(results.compactMap { $0 }.count == 1)
                #expect(results.compactMap { $0 }.first?.hasPassword == true)
                #expect(try await store.sessions(of: .person(person.id)).count == 1)
                #expect(try await store.link(hash: [9], now: self.now) == nil)
            }
        }
    }

    @Test(arguments: StoreBackend.available)
    func aLinkEndsWithItsTimeItsSuccessorAndItsPerson(backend: StoreBackend) async throws {
        try await backend.withStore { store, _ in
            let person = try await store.addPerson("anna", link: 1)
            let end = self.now.advanced(by: .seconds(100))
            #expect(try await store.link(hash: [1], now: end.advanced(by: .milliseconds(-1))) != nil)
            #expect(try await store.link(hash: [1], now: end) == nil)
            #expect(try await store.setLink(.fixture(2, for: person.id, now: self.now)))
            #expect(try await store.link(hash: [1], now: self.now) == nil)
            #expect(try await store.link(hash: [2], now: self.now) == .person(person))
            _ = try await store.changePerson(person.id) { $0.isDisabled = true }
            #expect(try await store.link(hash: [2], now: self.now) == nil)
            #expect(try await !store.setLink(.fixture(3, for: person.id, now: self.now)))
            _ = try await store.changePerson(person.id) { $0.isDisabled = false }
            #expect(try await store.link(hash: [2], now: self.now) == nil, "it does not come back")
            #expect(try await store.setLink(.fixture(3, for: person.id, now: self.now)))
            #expect(try await store.deletePerson(person.id) == .deleted)
            #expect(try await store.link(hash: [3], now: self.now) == nil)
            #expect(try await !store.setLink(.fixture(4, for: person.id, now: self.now)))
        }
    }

    /// Two browsers with two copies of the first link make one person.
    @Test(arguments: StoreBackend.available)
    func theFirstLinkMakesOnePerson(backend: StoreBackend) async throws {
        try await backend.withStore { store, _ in
            #expect(try await store.setLink(.fixture(1, for: nil, now: self.now)))
            #expect(try await store.setLink(.fixture(2, for: nil, now: self.now)))
            #expect(try await store.link(hash: [1], now: self.now) == nil, "each start replaces it")
            #expect(try await store.link(hash: [2], now: self.now) == .firstAdmin)
            let results = try await withThrowingTaskGroup(of: PersonRecord?.self) { group in
                for number in 0..<5 {
                    let person = PersonRecord(name: "\(number)", role: .admin, createdAt: self.now)
                    let signIn = SignInRecord.fixture(person.id, UInt8(number), now: self.now)
                    group.addTask { try await store.redeem(link: [2], for: person, password: "p", signIn) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(results.compactMap { $0 }.map(\.isLastingAdmin) == [true])
            #expect(try await store.people(after: nil, limit: 10).count == 1)
            #expect(try await !store.setLink(.fixture(3, for: nil, now: self.now)))
        }
    }

    /// Somebody was added with an API key after the first link was made.
    @Test(arguments: StoreBackend.available)
    func theFirstLinkIsWorthNothingOnceThereIsAPerson(backend: StoreBackend) async throws {
        try await backend.withStore { store, _ in
            #expect(try await store.setLink(.fixture(1, for: nil, now: self.now)))
            _ = try await store.addPerson("anna", .viewer)
            #expect(try await store.link(hash: [1], now: self.now) == nil)
            let person = PersonRecord(name: "eve", role: .admin, createdAt: self.now)
            let signIn = SignInRecord.fixture(person.id, 1, now: self.now)
            #expect(try await store.redeem(link: [1], for: person, password: "p", signIn) == nil)
            #expect(try await store.people(after: nil, limit: 10).map(\.name) == ["anna"])
        }
    }
}

extension LinkRecord {
    /// Returns a link that is valid for 100 s.
    static func fixture(_ hash: UInt8, for person: UUID?, now: Timestamp = Vectors.issuedAt) -> LinkRecord {
        LinkRecord(hash: [hash], person: person, expiresAt: now.advanced(by: .seconds(100)))
    }
}

extension SignInRecord {
    /// Returns a session of a day, idle for an hour at most.
    static func fixture(
        _ person: UUID,
        _ hash: UInt8,
        network: UInt8 = 1,
        now: Timestamp,
        agent: String = "browser"
    ) -> SignInRecord {
        let end = now.advanced(by: .seconds(86_400))
        return SignInRecord(
            session: SessionRecord(holder: .person(person), createdAt: now, expiresAt: end, agent: agent),
            hash: [hash],
            network: [network],
            now: now,
            idle: .seconds(3600)
        )
    }
}

extension PersonStore {
    /// Adds a person, and lets the person redeem the link if a password is given.
    func addPerson(
        _ name: String,
        _ role: PersonRole = .author,
        password: String? = nil,
        link: UInt8? = nil
    ) async throws -> PersonRecord {
        let person = PersonRecord(name: name, role: role, createdAt: Vectors.issuedAt)
        var record = LinkRecord.fixture(0, for: person.id)
        record.hash = link.map { [$0] } ?? Array(person.id.uuidString.utf8)
        guard let added = try await self.addPerson(person, link: record) else { throw StoreError.wrongMasterKey }
        guard let password else { return added }
        let signIn = SignInRecord.fixture(person.id, UInt8(truncatingIfNeeded: added.number), now: Vectors.issuedAt)
        guard let redeemed = try await self.redeem(link: record.hash, for: added, password: password, signIn) else {
            throw StoreError.wrongMasterKey
        }
        return redeemed
    }
}
