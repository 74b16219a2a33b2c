import Foundation
import ProviderModel
import PushStore
import Testing

@testable import PushProvider

/// The steps of campaigns between two readings.
@Suite struct CampaignFollowerTests {
    private let id = UUID()

    private func reading(_ state: NotificationRecord.State, started: Bool, number: Int64 = 1) -> CampaignReading {
        CampaignReading(
            [CampaignState(number: number, id: self.id, app: 1, state: state, hasStarted: started)],
            newest: number
        )
    }

    /// Returns the steps of the last of several readings, after one of an empty store.
    private func steps(_ readings: CampaignReading...) -> [CampaignFollower.Step] {
        var follower = CampaignFollower()
        _ = follower.follow(CampaignReading([], newest: 0))
        var last: [CampaignFollower.Progress] = []
        for reading in readings { last = follower.follow(reading) }
        return last.flatMap(\.steps)
    }

    @Test func aCampaignIsFollowedFromItsAcceptanceToItsEnd() {
        let accepted = self.reading(.accepted, started: false)
        let sending = self.reading(.sending, started: true)
        let paused = self.reading(.paused, started: true)
        let done = self.reading(.done, started: true)
        #expect(self.steps(accepted) == [.accepted])
        #expect(self.steps(accepted, accepted) == [])
        #expect(self.steps(accepted, sending) == [.started])
        #expect(self.steps(accepted, sending, paused) == [.paused])
        #expect(self.steps(accepted, sending, paused, paused) == [])
        #expect(self.steps(accepted, sending, paused, sending) == [.resumed])
        #expect(self.steps(accepted, sending, done) == [.ended])
        #expect(self.steps(accepted, sending, self.reading(.cancelled, started: true)) == [.cancelled])
    }

    @Test func whatHappensBetweenTwoReadingsIsOneStory() {
        let done = self.reading(.done, started: true)
        #expect(self.steps(done) == [.accepted, .started, .ended])
        #expect(self.steps(self.reading(.done, started: false)) == [.accepted, .ended], "nobody was in the audience")
        #expect(self.steps(self.reading(.paused, started: false), done) == [.resumed, .started, .ended])
        #expect(self.steps(self.reading(.scheduled, started: false), self.reading(.accepted, started: false)) == [])
    }

    @Test func theStateAtTheStartIsNotAStory() {
        var follower = CampaignFollower()
        #expect(follower.follow(self.reading(.paused, started: true, number: 7)) == [])
        #expect(follower.open == [7])
        #expect(follower.follow(self.reading(.sending, started: true, number: 7)).map(\.steps) == [[.resumed]])
        #expect(follower.follow(CampaignReading([], newest: 7)) == [], "it was deleted")
        #expect(follower.open == [])
    }

    @Test func aLimitedNumberIsFollowed() {
        var follower = CampaignFollower()
        _ = follower.follow(CampaignReading([], newest: 0))
        let count = CampaignFollower.maximumCount + 5
        let all = (1...count).map {
            CampaignState(number: Int64($0), id: UUID(), app: 1, state: .scheduled, hasStarted: false)
        }
        #expect(follower.follow(CampaignReading(all, newest: Int64(count))).count == count)
        #expect(follower.open.count == CampaignFollower.maximumCount)
    }
}
