import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

@Suite(.timeLimit(.patience)) struct ErasureServiceTests {
    private let time = ManualTime()

    private func service(_ store: any ProviderStore) -> ErasureService {
        ErasureService(
            store: store,
            direct: DirectDispatch(store: store, time: self.time),
            wake: WakeSignal(),
            time: self.time,
            logger: silentLogger
        )
    }

    private func areEmptied(_ store: any ProviderStore) async throws -> Bool {
        try await store.erasures().allSatisfy { $0.isEmptied }
    }

    /// One that takes long would end between two questions for its state, and the second would begin another one, of a device
    /// that was registered since.
    @Test(arguments: StoreBackend.available)
    func anErasureThatNobodyHeardOfCanBeAskedForItsState(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let service = self.service(store)
            try await store.register(1, app: app) { $0.user = .set("alice") }
            let erasure = try await store.eraseUser("alice", app: app, steady: self.time.steady)
            self.time.advance(by: .seconds(3600))
            #expect(await service.step() == .seconds(5))
            #expect(try await store.devices(app: app, token: .numbered(1)).isEmpty)
            self.time.advance(by: .seconds(59))
            #expect(await service.step() == .seconds(5))
            #expect(try await store.eraseUser("alice", app: app, steady: self.time.steady) == erasure)
            self.time.advance(by: .seconds(1))
            _ = await service.step()
            #expect(try await self.areEmptied(store))
        }
    }

    @Test(arguments: StoreBackend.available)
    func anAnsweredErasureEndsAMinuteAfterItsRequest(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let service = self.service(store)
            let erasure = try await store.eraseUser("alice", app: app, steady: self.time.steady)
            try await store.noteAnswered(erasure)
            self.time.advance(by: .seconds(59))
            _ = await service.step()
            #expect(try await !self.areEmptied(store))
            self.time.advance(by: .seconds(1))
            _ = await service.step()
            #expect(try await self.areEmptied(store))
        }
    }
}
