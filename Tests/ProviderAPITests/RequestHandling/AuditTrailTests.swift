import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import Testing

@testable import ProviderAPI

/// The entries of the audit under clocks that disagree.
@Suite struct AuditTrailTests {
    /// An entry with the date of a clock that is behind would be forgotten before its time.
    @Test(arguments: StoreBackend.available)
    func aClockThatIsBehindMakesNoEntryOld(backend: StoreBackend) async throws {
        try await backend.withStore { store, _ in
            let time = ManualTime()
            let trail = AuditTrail(store: store, time: time, logger: silentLogger)
            let key = APICaller(id: UUID(), name: "ci", scopes: ["admin"])
            let before = time.now
            time.step(by: .seconds(-40 * 86_400))
            await trail.record("PATCH /v1/apps/a", status: 200, by: key)
            let entries = try await store.audit(before: nil, limit: 10)
            #expect(entries.map(\.at) == [before])
        }
    }
}
