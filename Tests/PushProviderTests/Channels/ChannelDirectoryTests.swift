import ProviderModel
import PushStore
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// The channels of apps, with a scripted push service.
@Suite(.timeLimit(.patience)) struct ChannelDirectoryTests {
    @Test(arguments: StoreBackend.available)
    func aChannelIsNotedAlsoForACallerThatHasGone(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            let app = try #require(try await fixture.store.app(id: fixture.app))
            let channels = ChannelDirectory(
                store: fixture.store,
                directory: fixture.directory,
                source: fixture.sender,
                time: fixture.time
            )
            fixture.sender.channels[.sandbox]?.onCreate {
                withUnsafeCurrentTask { (task: UnsafeCurrentTask?) -> Void in task?.cancel() }
            }
            let made = try await Task { try await channels.create(app, .sandbox, storage: .newest, name: "m") }.value
            let known = try await fixture.store.channels(app: fixture.app, environment: nil)
            #expect(known == [made] && made.name == "m")
        }
    }
}
