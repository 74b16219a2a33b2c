import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

/// The contract of pauses of environments.
@Suite(.timeLimit(.patience)) struct EnvironmentPauseContract: StoreContract {
    private func request(_ app: Int64, epoch: Int64 = 1) -> EnvironmentPauseRequest {
        let fault = ConfigurationFault(.refused, detail: "connection refused", host: "a", port: 1)
        let target = AppEnvironment(app: app, environment: .sandbox)
        let pause = EnvironmentPause(target, fault, since: self.now, proofs: 2)
        return EnvironmentPauseRequest(pause, epoch: epoch, event: nil)
    }

    /// The pause is the app's, whatever becomes of the notification whose page proves it.
    @Test(arguments: StoreBackend.available)
    func aPauseIsWrittenWithThePageOfANotificationThatIsGone(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await store.setCredential(.certificate(pem: "pem", passphrase: nil), app: app, environment: .sandbox)
            var page = PageResult(notificationNumber: 999)
            page.environmentPauses = [self.request(app)]
            #expect(try await store.commit([page], now: self.now) == [.leaseLost])
            #expect(try await store.environmentPauses() == [self.request(app).pause])
        }
    }

    /// An environment that never had a credential is told from one whose credential was removed.
    @Test(arguments: StoreBackend.available)
    func onlyTheRemovalOfACredentialBeginsAnEpoch(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let target = AppEnvironment(app: app, environment: .sandbox)
            #expect(try await !store.removeCredential(app: app, environment: .sandbox))
            #expect(try await store.credentialEpoch(target) == 0)
            try await store.setCredential(.certificate(pem: "pem", passphrase: nil), app: app, environment: .sandbox)
            #expect(try await store.removeCredential(app: app, environment: .sandbox))
            #expect(try await !store.removeCredential(app: app, environment: .sandbox))
            #expect(try await store.credentialEpoch(target) == 2)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aPauseOfAReplacedCredentialIsNotWritten(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await store.setCredential(.certificate(pem: "pem", passphrase: nil), app: app, environment: .sandbox)
            try await store.setCredential(.certificate(pem: "pem", passphrase: nil), app: app, environment: .sandbox)
            #expect(try await store.pause(self.request(app), now: self.now) == false)
            #expect(try await store.environmentPauses().isEmpty)
            #expect(try await store.pause(self.request(app, epoch: 2), now: self.now) == true)
            #expect(try await store.pause(self.request(app, epoch: 2), now: self.now) == false)
        }
    }
}
