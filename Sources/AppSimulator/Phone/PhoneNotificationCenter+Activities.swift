package import Foundation
package import MartletKit

/// Live Activities (reference 3.4).
extension PhoneNotificationCenter {
    /// The time at which ``advance(to:)`` has something to do; `nil` for none.
    package var nextChange: Date? {
        self.activities.compactMap { activity in
            let staleAt = activity.isStale || activity.hasEnded ? nil : activity.staleAt
            return [staleAt, activity.removeAt].compactMap { $0 }.min()
        }.min()
    }

    /// Marks Live Activities whose stale date has passed, and removes ended ones whose time is up.
    package mutating func advance(to now: Date) -> [PhoneEvent] {
        var events: [PhoneEvent] = []
        for index in self.activities.indices {
            let activity = self.activities[index]
            guard !activity.isStale, !activity.hasEnded, let staleAt = activity.staleAt, staleAt <= now else {
                continue
            }
            self.activities[index].isStale = true
            events.append(.activity(self.activities[index], .stale))
        }
        let removed = self.activities.filter { activity in activity.removeAt.map { $0 <= now } ?? false }
        self.activities.removeAll { removed.contains($0) }
        return events + removed.map { .activity($0, .removed) }
    }

    /// The kind of the phone's token for Live Activities.
    ///
    /// A push service of Apple gives one token for starts and one for each activity; the gateway gives a device one for each
    /// topic. So the token starts an activity, and updates it until it has ended. Broadcasts need no token.
    package var activityTokenKind: MartletKit.TokenKind {
        let running = self.activities.last { !$0.hasEnded && $0.channel == nil }
        return running.map { .liveActivityUpdate(activity: $0.id) } ?? .liveActivityStart
    }

    /// The broadcast channels of the activities that have not ended.
    var channels: Set<String> { Set(self.activities.filter { !$0.hasEnded }.compactMap(\.channel)) }

    /// Starts, updates or ends a Live Activity.
    mutating func change(_ content: PushContent, _ push: PhonePush, now: Date) -> [PhoneEvent] {
        guard let change = content.activity, let event = change.event, let timestamp = change.timestamp else {
            return [.notShown(apnsID: push.apnsID, .activityIncomplete)]
        }
        if event == .start { return self.start(change, content, push, timestamp, now: now) }
        // A device has one token for the updates of all activities: they go to the one that was started last.
        let found = self.activities.lastIndex { activity in
            !activity.hasEnded && activity.channel == push.channelID
        }
        guard let index = found else { return [.notShown(apnsID: push.apnsID, .activityEnded)] }
        guard timestamp >= self.activities[index].timestamp else {
            return [.notShown(apnsID: push.apnsID, .activityOutdated)]
        }
        self.activities[index].timestamp = timestamp
        if let state = change.contentState { self.activities[index].contentState = state }
        if event == .update {
            self.activities[index].staleAt = change.staleDate
            self.activities[index].isStale = false
            return [.activity(self.activities[index], .updated)] + self.advance(to: now)
        }
        let latest = now.addingTimeInterval(LiveActivity.longestStay)
        self.activities[index].removeAt = min(change.dismissalDate ?? latest, latest)
        return [.activity(self.activities[index], .ended)] + self.advance(to: now)
    }

    private mutating func start(
        _ change: LiveActivityPush,
        _ content: PushContent,
        _ push: PhonePush,
        _ timestamp: Date,
        now: Date
    ) -> [PhoneEvent] {
        guard let type = change.attributesType, let attributes = change.attributes, content.hasText,
            push.channelID == nil
        else { return [.notShown(apnsID: push.apnsID, .activityIncomplete)] }
        self.lastActivityNumber += 1
        let activity = LiveActivity(
            number: self.lastActivityNumber,
            type: type,
            attributes: attributes,
            contentState: change.contentState ?? [:],
            timestamp: timestamp,
            channel: change.channel,
            staleAt: change.staleDate
        )
        self.activities.append(activity)
        self.activities.removeFirst(max(0, self.activities.count - Self.maximumActivities))
        return [.activity(activity, .started)] + self.advance(to: now)
    }
}
