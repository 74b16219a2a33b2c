package import Foundation
package import MartletKit
import PushTypes

/// The notification centre of a phone with one app, without I/O: the list, the badge and the Live Activities.
///
/// It is what is kept of the phone between two runs. Facts are those of reference 3, 7.4 and 7.6.
package struct PhoneNotificationCenter: Hashable, Sendable, Codable {
    /// The most notifications in the list; the oldest go first.
    static let maximumEntries = 1000
    /// The most Live Activities, ended ones included.
    static let maximumActivities = 100
    /// The number of pushes that are remembered, so that a repeated one is known.
    static let rememberedPushes = 1000

    /// The list, the notification that was shown last at the end.
    package private(set) var entries: [NotificationEntry] = []
    /// The number on the app's icon; 0 for none.
    package private(set) var badge = 0
    package internal(set) var activities: [LiveActivity] = []
    /// The things that the user allows.
    package var capabilities: Capabilities {
        get { Capabilities(names: self.allowed) }
        set { self.allowed = newValue.names }
    }
    /// The names of ``capabilities``.
    private var allowed = Self.allCapabilities.names
    /// The ids of the last pushes, oldest first.
    private var handled: [String] = []
    /// The number of times that the app was removed.
    package private(set) var installs = 0
    private var lastNumber = 0
    var lastActivityNumber = 0

    /// Everything that a user can allow.
    package static let allCapabilities: Capabilities = [.alert, .badge, .sound, .background]

    private enum CodingKeys: String, CodingKey {
        case entries, badge, activities, handled, installs, lastNumber, lastActivityNumber
        case allowed = "capabilities"
    }

    package init() {}

    /// The list as the phone shows it: threads, that with the newest notification first.
    package var groups: [NotificationGroup] {
        var order: [String?] = []
        for entry in self.entries.reversed() where !order.contains(entry.thread) { order.append(entry.thread) }
        let threads = Dictionary(grouping: self.entries, by: \.thread)
        return order.map { NotificationGroup(thread: $0, entries: (threads[$0] ?? []).reversed()) }
    }

    // MARK: - Pushes

    /// The step that a push asks for.
    package enum OnArrival: Hashable, Sendable {
        /// The notification service extension changes the content first.
        case runExtension(PushContent)
        /// The content goes to ``deliver(_:of:now:)`` as it is.
        case deliver(PushContent)
        /// The push was here before and its notification is gone.
        case drop([PhoneEvent])
    }

    /// Reads a push that has arrived. Nothing is shown before ``deliver(_:of:now:)``.
    package func arrived(_ push: PhonePush) -> OnArrival {
        if let id = push.apnsID, self.handled.contains(id), !self.entries.contains(where: { $0.apnsID == id }) {
            return .drop([.notShown(apnsID: id, .repeated)])
        }
        let content = PushContent(payload: push.payload)
        let isAlert = !Self.isBackground(push) && !Self.isLiveActivity(push, content)
        // Without alerts nothing will be shown that the extension could change.
        guard isAlert, content.runsExtension, self.capabilities.contains(.alert) else { return .deliver(content) }
        return .runExtension(content)
    }

    /// Shows the content of a push, and returns what the user notices, in order.
    /// - Parameter content: The content of ``arrived(_:)``, or what the extension has made of it.
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

    /// Changes badge and list.
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
            // Each permission is one of its own (reference 10.1).
            if let sound { events.append(.sound(sound)) }
            return events
        }
        // A push without a name can be replaced by none.
        let identifier = push.collapseID ?? push.apnsID ?? "number \(self.lastNumber + 1)"
        let earlier = self.entries.firstIndex { $0.identifier == identifier }
        let isSame = push.apnsID != nil && earlier.map { self.entries[$0].apnsID } == push.apnsID
        let number = earlier.map { self.entries.remove(at: $0).number } ?? self.nextNumber()
        let entry = NotificationEntry(
            content,
            number: number,
            identifier: identifier,
            apnsID: push.apnsID,
            now: now
        )
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

    /// Wakes the app for `content-available`.
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

    /// Returns a notification.
    /// - Parameter number: Its number; `nil` for the newest.
    /// - Throws: ``PhoneError`` if there is none.
    package func entry(_ number: Int?) throws -> NotificationEntry {
        guard let newest = self.entries.last else { throw PhoneError("there is no notification in the list") }
        guard let number else { return newest }
        guard let entry = self.entries.first(where: { $0.number == number }) else {
            let known = self.entries.map { "\($0.number)" }.joined(separator: ", ")
            throw PhoneError("there is no notification \(number) in the list, only \(known)")
        }
        return entry
    }

    /// Removes a notification that the user has opened or cleared, and returns it.
    /// - Throws: ``PhoneError`` if there is none.
    package mutating func take(_ number: Int?) throws -> NotificationEntry {
        let entry = try self.entry(number)
        self.entries.removeAll { $0.number == entry.number }
        return entry
    }

    /// Removes a notification whose action the user has chosen, and returns it with the action.
    /// - Parameter categories: The categories that the app has registered.
    /// - Throws: ``PhoneError`` for a notification or an action that does not exist, or a text that does not fit.
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

    /// Sets the number on the app's icon, as a push or the app does.
    package mutating func setBadge(_ badge: Int) -> [PhoneEvent] {
        guard badge != self.badge else { return [] }
        self.badge = badge
        return [.badge(badge)]
    }

    /// Removes everything of the app, which loses its permissions too. Numbers go on.
    package mutating func removeApp() {
        let earlier = self
        self = PhoneNotificationCenter()
        (self.lastNumber, self.lastActivityNumber) = (earlier.lastNumber, earlier.lastActivityNumber)
        self.installs = earlier.installs + 1
    }
}
