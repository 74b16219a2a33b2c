import Foundation
import ProviderModel
import PushStore
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// Replays, and other changes while a post is in flight.
@Suite(.timeLimit(.patience)) struct WebhookReplayTests {
    let start = Timestamp(seconds: 1_700_000_000)

    @Test func aReplayRepeatsEventsFromATimeOrABlockOn() async throws {
        try await DeliveryFixture.run { fixture in
            for number in 1...5 {
                fixture.store.addBlock(number...number, at: self.start.advanced(by: .seconds(Int64(number))))
            }
            await fixture.postEvents()
            let replay = WebhookReplay(store: fixture.store)
            let since = self.start.advanced(by: .seconds(4))
            let moved = try await replay.start(fixture.webhook.id, from: .since(since))
            #expect(moved?.cursor == 3)
            await fixture.postEvents()
            _ = try await replay.start(fixture.webhook.id, from: .block(2))
            await fixture.postEvents()
            _ = try await replay.start(fixture.webhook.id, from: .since(Timestamp(milliseconds: .min)))
            await fixture.postEvents()
            #expect(fixture.receiver.numbers == [[1, 2, 3, 4, 5], [4, 5], [2, 3, 4, 5], [1, 2, 3, 4, 5]])
            for block: Int64 in [.min, 0, 1] {
                #expect(try await replay.cursor(for: fixture.webhook, from: .block(block)) == 0)
            }
            #expect(try await replay.start(UUID(), from: .block(1)) == nil)
        }
    }

    @Test func aReplayCanPassEventsOver() async throws {
        try await DeliveryFixture.run { fixture in
            for number in 1...5 { fixture.store.addBlock(number...number) }
            _ = try await WebhookReplay(store: fixture.store).start(fixture.webhook.id, from: .block(5))
            await fixture.postEvents()
            #expect(fixture.receiver.numbers == [[5]])
        }
    }

    @Test func aReplayDuringAPostIsNotLost() async throws {
        try await DeliveryFixture.run { fixture in
            fixture.store.addBlock(1...1)
            await fixture.postEvents()
            fixture.store.addBlock(2...2)
            fixture.receiver.onPost { post in
                guard ScriptedReceiver.numbers(in: post.body) == [2] else { return }
                fixture.store.change(fixture.webhook.id) { $0.cursor = 0 }
            }
            await fixture.postEvents()
            #expect(fixture.receiver.numbers == [[1], [2], [1, 2]])
            #expect(fixture.record?.cursor == 2)
        }
    }

    @Test func aChangeDuringAPostIsKept() async throws {
        try await DeliveryFixture.run { fixture in
            fixture.store.addBlock(1...1)
            fixture.receiver.onPost { _ in
                fixture.store.change(fixture.webhook.id) { webhook in
                    webhook.isActive = false
                    webhook.secret = "whsec_other"
                    webhook.events = [.token]
                }
            }
            #expect(await fixture.postEvents() == .idle)
            #expect(fixture.record?.isActive == false)
            #expect(fixture.record?.secret == "whsec_other")
            #expect(fixture.record?.events == [.token])
            #expect(fixture.record?.cursor == 1)
        }
    }

    @Test func aFailureOfTheOldURLDoesNotCountForTheNewOne() async throws {
        try await DeliveryFixture.run { fixture in
            fixture.store.addBlock(1...1)
            fixture.receiver.script(.status(410))
            let url = fixture.webhook.url + "&new=1"
            fixture.receiver.onPost { _ in fixture.store.change(fixture.webhook.id) { $0.url = url } }
            await fixture.postEvents()
            #expect(fixture.record?.isActive == true)
            #expect(fixture.record?.failures == 0)
            await fixture.postEvents()
            #expect(fixture.receiver.posts.last?.target == "/hook?key=1&new=1")
        }
    }

    @Test func aWebhookThatIsDeletedDuringAPostStaysDeleted() async throws {
        try await DeliveryFixture.run { fixture in
            fixture.store.addBlock(1...1)
            fixture.receiver.onPost { _ in _ = fixture.store.deleteWebhook(fixture.webhook.id) }
            #expect(await fixture.postEvents() == .idle)
            #expect(fixture.record == nil)
        }
    }
}
