import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushProvider

/// A service that signs people in, over a store of its own.
struct SignInFixture: Sendable {
    static let password = "correct horse battery"

    let store: any ProviderStore
    let people: PeopleService
    let keys: APIKeys
    let service: SignInService
    let hasher: PasswordHasher
    /// The budget of hashes for those from unknown networks.
    let strangers: Budget
    let time: ManualTime
    let audit: RecordedAudit

    /// Makes a service as another start of the process would.
    func restarted() -> SignInService {
        SignInService(
            store: self.store,
            keys: self.keys,
            hasher: PasswordHasher(
                .cheap,
                secret: "secret",
                places: Budget(.hashes),
                strangersPlaces: Budget(.strangerHashes)
            ),
            lines: Budget(.logLines),
            time: self.time,
            logger: silentLogger,
            audit: self.audit.add
        )
    }

    /// Adds a person with a password, who has signed in from 192.0.2.1.
    @discardableResult
    func add(_ name: String, _ role: PersonRole = .author) async throws -> PersonRecord {
        let person = PersonRecord(name: name, role: role, createdAt: self.time.now)
        let (added, link) = try #require(try await self.people.add(person))
        _ = try await self.redeem(link.text)
        return added
    }

    func redeem(_ link: String, name: String? = nil, password: String = Self.password) async throws -> SessionGrant {
        try await self.service.redeem(link: link, name: name, password: password, address: "192.0.2.1", agent: "a")
    }

    func signIn(
        _ name: String,
        _ password: String = Self.password,
        from address: String = "192.0.2.1"
    ) async throws -> SessionGrant {
        try await self.service.signIn(name: name, password: password, address: address, agent: "browser")
    }

    /// Returns the error of an attempt to sign in; `nil` if it succeeds.
    func failure(
        _ name: String,
        _ password: String = "a wrong password",
        from address: String = "203.0.113.9"
    ) async throws -> RequestError? {
        do {
            _ = try await self.signIn(name, password, from: address)
            return nil
        } catch let error as RequestError {
            return error
        } catch let error as RetryLaterError {
            return error.error
        }
    }
}

/// The entries of an audit.
final class RecordedAudit: Sendable {
    private let state = Mutex<[(action: String, caller: APICaller)]>([])

    var entries: [(action: String, caller: APICaller)] { self.state.withLock { $0 } }

    func add(_ action: String, _ caller: APICaller) { self.state.withLock { $0.append((action, caller)) } }
}

extension StoredPassword.Parameters {
    /// Parameters for passwords that are no secrets.
    static let cheap = StoredPassword.Parameters(logarithm: 4, blockSize: 8, parallelism: 1)
}

/// Calls `body` with a service and an empty store.
func withSignIns(_ body: (SignInFixture) async throws -> Void) async throws {
    for backend in StoreBackend.available {
        try await backend.withStore { store, _ in
            let (time, audit) = (ManualTime(), RecordedAudit())
            let strangers = Budget.patient(.strangerHashes)
            let hasher = PasswordHasher(.cheap, secret: "secret", places: Budget(.hashes), strangersPlaces: strangers)
            let keys = try await APIKeys(store: store, time: time, logger: silentLogger)
            let service = SignInService(
                store: store,
                keys: keys,
                hasher: hasher,
                lines: Budget(.logLines),
                time: time,
                logger: silentLogger,
                audit: audit.add
            )
            let people = PeopleService(store: store, time: time)
            try await body(
                SignInFixture(
                    store: store,
                    people: people,
                    keys: keys,
                    service: service,
                    hasher: hasher,
                    strangers: strangers,
                    time: time,
                    audit: audit
                )
            )
        }
    }
}

extension Duration {
    static func hours(_ count: Int64) -> Duration { .seconds(3600 * count) }
}
