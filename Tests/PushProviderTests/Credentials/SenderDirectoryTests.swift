import ProviderModel
import PushSender
import PushStore
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushProvider

/// Senders of credentials that are replaced.
@Suite(.timeLimit(.patience)) struct SenderDirectoryTests {
    @Test(arguments: StoreBackend.available)
    func theSendersOfAReplacedCredentialEnd(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let source = RetiringSource()
            let directory = SenderDirectory(store: store, source: source, logger: silentLogger)
            try await Self.set("ABC123DEFG", store, app)
            _ = try await directory.senders(app: app, lane: .bulk, at: Vectors.issuedAt)
            try await Self.set("NEW123DEFG", store, app)
            directory.forget(app: app)
            #expect(source.retired == ["ABC123DEFG \(app) sandbox"])
            _ = try await directory.senders(app: app, lane: .bulk, at: Vectors.issuedAt)
            _ = try await store.removeCredential(app: app, environment: .sandbox)
            directory.forget(app: app)
            #expect(source.retired == ["ABC123DEFG \(app) sandbox", "NEW123DEFG \(app) sandbox"])
        }
    }

    @Test(arguments: StoreBackend.available)
    func appsWithTheSameKeyHaveSendersOfTheirOwn(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let other = try await store.addApp(bundleID: try #require(Topic("b")), name: nil, now: Vectors.issuedAt)
            let source = RetiringSource()
            let directory = SenderDirectory(store: store, source: source, logger: silentLogger)
            for app in [app, other.app.id] {
                try await Self.set("ABC123DEFG", store, app)
                _ = try await directory.senders(app: app, lane: .bulk, at: Vectors.issuedAt)
            }
            #expect(source.senders == 2)
            directory.forget(app: app)
            #expect(source.retired == ["ABC123DEFG \(app) sandbox"])
            #expect(source.senders == 1)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aSenderThatIsMadeWhileItsCredentialGoesEndsToo(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let source = RetiringSource()
            let directory = SenderDirectory(store: store, source: source, logger: silentLogger)
            try await Self.set("ABC123DEFG", store, app)
            source.onSender.withLock { $0 = { directory.forget(app: app) } }
            _ = try await directory.senders(app: app, lane: .bulk, at: Vectors.issuedAt)
            #expect(source.retired.last == "ABC123DEFG \(app) sandbox")
            #expect(source.senders == 0)
        }
    }

    private static func set(_ keyID: String, _ store: any ProviderStore, _ app: Int64) async throws {
        let key = CredentialRecord.key(teamID: Vectors.teamID, keyID: keyID, privateKey: Vectors.privateKey)
        try await store.setCredential(key, app: app, environment: .sandbox)
    }
}

/// Remembers what is to end.
private final class RetiringSource: SenderSource {
    let onSender = Mutex<(@Sendable () -> Void)?>(nil)
    private let state = Mutex<(retired: [String], senders: Set<String>)>(([], []))

    var retired: [String] { self.state.withLock { $0.retired } }
    var senders: Int { self.state.withLock { $0.senders.count } }

    func sender(
        for credential: PushCredential,
        app: Int64,
        environment: PushEnvironment,
        lane: SenderLane
    ) -> any NotificationSender {
        self.onSender.withLock { $0 }?()
        self.state.withLock { _ = $0.senders.insert(Self.name(credential, app, environment)) }
        return ScriptedSender().sender(for: credential, app: app, environment: environment, lane: lane)
    }

    func channels(
        for credential: PushCredential,
        app: Int64,
        environment: PushEnvironment
    ) -> any ChannelServiceClient {
        ScriptedChannels()
    }

    func retire(_ credential: PushCredential, app: Int64, environment: PushEnvironment) {
        let name = Self.name(credential, app, environment)
        self.state.withLock { state in
            state.retired.append(name)
            state.senders.remove(name)
        }
    }

    private static func name(_ credential: PushCredential, _ app: Int64, _ environment: PushEnvironment) -> String {
        guard case .token(let key) = credential else { return "certificate" }
        return "\(key.keyID) \(app) \(environment.rawValue)"
    }
}
