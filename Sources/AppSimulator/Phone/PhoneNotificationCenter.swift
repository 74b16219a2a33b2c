package import Foundation
package import MartletKit
import PushTypes

/// The notification centre of a phone with one app, without I/O: the list, the badge and the Live Activities. It is
/// stored between two runs of the simulator. The rules are those of APNs reference 3, 7.4 and 7.6.
package struct PhoneNotificationCenter: Hashable, Sendable, Codable {
    /// The maximum number of notifications in the list. If it is exceeded, the oldest are dropped.
    static let maximumEntries = 1000
    /// The maximum number of Live Activities, including ended ones. If it is exceeded, the oldest are dropped.
    private static let maximumActivities = 100
    /// The maximum number of remembered pushes, by which a repeated push is recognized. The oldest are forgotten.
    private static let rememberedPushes = 1000

    /// The notifications in the list, in the order in which they were shown.
    package private(set) var entries: [NotificationEntry] = []
    /// The number on the app's icon, or 0 for none.
    package private(set) var badge = 0
    package private(set) var activities: [LiveActivity] = []
    package var capabilities: Capabilities {
        get { Capabilities(names: self.allowed) }
        set { self.allowed = newValue.names }
    }
    private var allowed = Self.allCapabilities.names
    /// The `apns-id` values of the last pushes, oldest first, by which repeated pushes are recognized.
    private var handled: [String] = []
    /// The number of times that the app was removed, which also serves as the number of the current installation.
    package private(set) var installs = 0
    private var lastNumber = 0
    private var lastActivityNumber = 0

    package static let allCapabilities: Capabilities = [.alert, .badge, .sound, .background]

    private enum CodingKeys: String, CodingKey {
        case entries, badge, activities, handled, installs, lastNumber, lastActivityNumber
        case allowed = "capabilities"
    }

    package init() {}

    /// The list as the phone shows it: grouped by thread, with the thread of the newest notification first.
    package var groups: [NotificationGroup] {
        var order: [String?] = []
        for entry in self.entries.reversed() where !order.contains(entry.thread) { order.append(entry.thread) }
        let threads = Dictionary(grouping: self.entries, by: \.thread)
        return order.map { NotificationGroup(thread: $0, entries: (threads[$0] ?? []).reversed()) }
    }

    // MARK: - Pushes

    /// The next step in the handling of a push that has arrived.
    package enum OnArrival: Hashable, Sendable {
        /// Run the notification service extension, which may change the content, and then call ``deliver(_:of:now:)``.
        case runExtension(PushContent)
        /// Pass the unchanged content to ``deliver(_:of:now:)``.
        case deliver(PushContent)
        /// Stop, because the push is a repetition whose notification is no longer in the list. The events report this.
        case drop([PhoneEvent])
    }

    /// Parses a push that has arrived, and returns the next step. It changes nothing on the phone.
    package func arrived(_ push: PhonePush) -> OnArrival {
        if let id = push.apnsID, self.handled.contains(id), !self.entries.contains(where: { $0.apnsID == id }) {
            return .drop([.notShown(apnsID: id, .repeated)])
        }
        let content = PushContent(payload: push.payload)
        let isAlert = !Self.isBackground(push) && !Self.isLiveActivity(push, content)
        // Without the permission for alerts, nothing is shown that the extension could change.
        guard isAlert, content.runsExtension, self.capabilities.contains(.alert) else { return .deliver(content) }
        return .runExtension(content)
    }

    /// Applies the content of a push to the phone, and returns the resulting events in order.
    /// - Parameter content: The content that ``arrived(_:)`` returned, which the extension may have changed.
    package mutating func deliver(_ content: PushContent, of push: PhonePush, now: Date) -> [PhoneEvent] {
        self.remember(push.apnsID)
        var events = content.problems.map { PhoneEvent.problem($0, apnsID: push.apnsID) }
        if Self.isLiveActivity(push, content) {
            events += self.change(content, push, now: now)
        } else if Self.isBackground(push) {
            if content.hasText || content.badge != nil || content.sound != nil {
                events.append(.notShown(apnsID: push.apnsID, .background))
            }
            events += self.wake(content, push)
        } else {
            events += self.show(content, push, now: now)
            events += self.wake(content, push)
        }
        let isSilent = events.allSatisfy { if case .problem = $0 { true } else { false } }
        let changesBadge = content.badge != nil && self.capabilities.contains(.badge)
        if isSilent, !changesBadge { events.append(.notShown(apnsID: push.apnsID, .noContent)) }
        return events
    }

    private static func isBackground(_ push: PhonePush) -> Bool { push.pushType == "background" }

    private static func isLiveActivity(_ push: PhonePush, _ content: PushContent) -> Bool {
        push.pushType == "liveactivity" || push.pushType == nil && content.activity != nil
    }

    private mutating func remember(_ id: String?) {
        guard let id, !self.handled.contains(id) else { return }
        self.handled.append(id)
        self.handled.removeFirst(max(0, self.handled.count - Self.rememberedPushes))
    }

    /// Applies the badge, the sound and the alert of a push, and returns the resulting events.
    private mutating func show(_ content: PushContent, _ push: PhonePush, now: Date) -> [PhoneEvent] {
        var events: [PhoneEvent] = []
        if let badge = content.badge, self.capabilities.contains(.badge) { events += self.setBadge(badge) }
        let isSilent = content.level == .passive || !self.capabilities.contains(.sound)
        let sound = isSilent ? nil : content.sound
        guard content.hasText else {
            if let sound { events.append(.sound(sound)) }
            return events
        }
        guard self.capabilities.contains(.alert) else {
            events.append(.notShown(apnsID: push.apnsID, .alertsDenied))
            // Each permission is independent of the others (APNs reference 10.1).
            if let sound { events.append(.sound(sound)) }
            return events
        }
        // A push with neither a collapse id nor an id cannot be replaced.
        let identifier = push.collapseID ?? push.apnsID ?? "number \(self.lastNumber + 1)"
        let earlier = self.entries.firstIndex { $0.identifier == identifier }
        let isSame = push.apnsID != nil && earlier.map { self.entries[$0].apnsID } == push.apnsID
        let number = earlier.map { self.entries.remove(at: $0).number } ?? self.nextNumber()
        let entry = NotificationEntry(content, number: number, identifier: identifier, apnsID: push.apnsID, now: now)
        self.entries.append(entry)
        self.entries.removeFirst(max(0, self.entries.count - Self.maximumEntries))
        let appearance = NotificationAppearance(
            replaces: earlier != nil,
            lightsScreen: content.level != .passive && !isSame,
            sound: isSame ? nil : sound
        )
        events.append(.shown(entry, appearance))
        return events
    }

    /// Returns the event that the push has woken the app, or that it was not shown if the user denies background
    /// activity. The array is empty for a push without `content-available`.
    private func wake(_ content: PushContent, _ push: PhonePush) -> [PhoneEvent] {
        guard content.wakesApp else { return [] }
        guard self.capabilities.contains(.background) else {
            return [.notShown(apnsID: push.apnsID, .wakingDenied)]
        }
        return [.woken(content, apnsID: push.apnsID)]
    }

    private mutating func nextNumber() -> Int {
        self.lastNumber += 1
        return self.lastNumber
    }

    // MARK: - The user and the app

    /// Returns the notification in the list with a number.
    /// - Parameter number: The number of the notification, or `nil` for the newest.
    /// - Throws: ``PhoneError`` if there is no such notification.
    package func entry(_ number: Int?) throws -> NotificationEntry {
        guard let newest = self.entries.last else { throw PhoneError("there is no notification in the list") }
        guard let number else { return newest }
        guard let entry = self.entries.first(where: { $0.number == number }) else {
            let known = self.entries.map { "\($0.number)" }.joined(separator: ", ")
            throw PhoneError("there is no notification \(number) in the list, only \(known)")
        }
        return entry
    }

    /// Removes a notification that the user has opened or dismissed, and returns it.
    /// - Parameter number: The number of the notification, or `nil` for the newest.
    /// - Throws: ``PhoneError`` if there is no such notification.
    package mutating func take(_ number: Int?) throws -> NotificationEntry {
        let entry = try self.entry(number)
        self.entries.removeAll { $0.number == entry.number }
        return entry
    }

    /// Removes a notification whose action the user has chosen, and returns it with the action.
    /// - Parameter categories: The categories that the app has registered.
    /// - Throws: ``PhoneError`` for an unknown notification or action, or a missing or unexpected text input.
    package mutating func act(
        on number: Int,
        id: String,
        text: String?,
        categories: [NotificationCategory]
    ) throws -> (entry: NotificationEntry, action: NotificationCategory.Action) {
        let entry = try self.entry(number)
        guard let name = entry.category else {
            throw PhoneError("notification \(number) has no category, and so no actions")
        }
        guard let category = categories.first(where: { $0.id == name }) else {
            throw PhoneError("the app has registered no category \(name): add it to the file of --categories")
        }
        let action = try category.action(id, text: text)
        return (try self.take(number), action)
    }

    /// Sets the number on the app's icon, and returns an event only if it has changed.
    package mutating func setBadge(_ badge: Int) -> [PhoneEvent] {
        guard badge != self.badge else { return [] }
        self.badge = badge
        return [.badge(badge)]
    }

    /// Removes the app's notifications, Live Activities and permissions. The numbers of later notifications continue
    /// those of the earlier ones.
    package mutating func removeApp() {
        let earlier = self
        self = PhoneNotificationCenter()
        (self.lastNumber, self.lastActivityNumber) = (earlier.lastNumber, earlier.lastActivityNumber)
        self.installs = earlier.installs + 1
    }
}

/// The handling of Live Activities (APNs reference 3.4).
extension PhoneNotificationCenter {
    /// The next time at which ``advance(to:)`` will change a Live Activity, or `nil` if it will change none.
    package var nextChange: Date? {
        self.activities.compactMap { activity in
            let staleAt = activity.isStale || activity.hasEnded ? nil : activity.staleAt
            return [staleAt, activity.removeAt].compactMap { $0 }.min()
        }.min()
    }

    /// Marks Live Activities whose stale date has passed as stale, and removes ended ones at their removal time.
    /// Returns the events of these changes.
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

    /// The kind under which the phone's token for Live Activities is registered at present. Apple issues one token for
    /// starts and one for each activity, while the gateway gives a device one token for each topic. The phone's token
    /// therefore has the kind for starts or, while an activity runs, the kind for its updates. Broadcasts need no
    /// token.
    package var activityTokenKind: MartletKit.TokenKind {
        let running = self.activities.last { !$0.hasEnded && $0.channel == nil }
        return running.map { .liveActivityUpdate(activity: $0.id) } ?? .liveActivityStart
    }

    var channels: Set<String> { Set(self.activities.filter { !$0.hasEnded }.compactMap(\.channel)) }

    private mutating func change(_ content: PushContent, _ push: PhonePush, now: Date) -> [PhoneEvent] {
        guard let change = content.activity, let event = change.event, let timestamp = change.timestamp else {
            return [.notShown(apnsID: push.apnsID, .activityIncomplete)]
        }
        if event == .start { return self.start(change, content, push, timestamp, now: now) }
        // A device has one token for the updates of all activities: an update is for the one that was started last.
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
