import Foundation
import NIOCore
import PushSender
import PushStore
import PushSupport
import PushTypes

/// A notification with everything that its pages share.
struct PreparedNotification: Sendable {
    let record: NotificationRecord
    /// Its number in the store.
    let number: Int64
    let app: AppRecord?
    let senders: [PushEnvironment: any NotificationSender]
    /// Why there is no sender for an environment.
    let faults: [PushEnvironment: String]
    let ids: DeliveryID
    /// `nil` if the content is damaged.
    let renderer: ContentRenderer?
    /// What all recipients share; without an id, and for a template without a payload.
    let base: PushNotification
    /// After this moment no try makes sense.
    let expires: Timestamp
    /// Whether a webhook wants to know of each delivery.
    let tellsDeliveries: Bool
    /// From when on and in which hours it may be sent; `nil`: at once, at any.
    let delivery: DeliveryTime?

    init(
        _ record: NotificationRecord,
        number: Int64,
        app: AppRecord?,
        senders: (usable: [PushEnvironment: any NotificationSender], faults: [PushEnvironment: String]),
        tellsDeliveries: Bool
    ) {
        self.tellsDeliveries = tellsDeliveries
        self.delivery = Self.delivery(record)
        self.record = record
        self.number = number
        self.app = app
        (self.senders, self.faults) = senders
        self.ids = DeliveryID(notification: record.id)
        self.renderer = Self.renderer(record)
        self.expires = record.expires
        let content = record.content
        self.base = PushNotification(
            id: "",
            topic: content.topic,
            pushType: content.pushType,
            priority: content.priority,
            expiration: content.expiration,
            collapseID: content.collapseID,
            payload: content.isTemplate ? ByteBuffer() : ByteBuffer(bytes: content.payload)
        )
    }

    static func renderer(_ record: NotificationRecord) -> ContentRenderer? {
        let content = record.content
        return try? ContentRenderer(
            payload: content.payload,
            isTemplate: content.isTemplate,
            pushType: content.pushType
        )
    }

    /// The hours in which it may be sent; `nil`: at any.
    var hours: DeliveryTime? { self.delivery?.window == nil ? nil : self.delivery }

    /// What of the profiles of a shard's recipients has to be read.
    func needs(in zone: ShardPlan.Zone) -> RecipientNeeds {
        Self.needs(self.renderer).union(self.tellsDeliveries ? [.user] : []).union(zone == .leftOver ? [.timeZone] : [])
    }

    private static func delivery(_ record: NotificationRecord) -> DeliveryTime? {
        guard let stored = record.delivery, let json = try? JSONValue(parsing: stored) else { return nil }
        return try? DeliveryTime(stored: json)
    }

    /// What of a recipient has to be read to try it again, and to tell of it.
    static func retryNeeds(_ record: NotificationRecord) -> RecipientNeeds {
        Self.needs(Self.renderer(record)).union(record.delivery == nil ? [.user] : [.user, .timeZone])
    }

    static func needs(_ renderer: ContentRenderer?) -> RecipientNeeds {
        guard let wanted = renderer?.needs else { return [] }
        var needs: RecipientNeeds = []
        if wanted.user || wanted.badge { needs.insert(.user) }
        if wanted.locale { needs.insert(.locale) }
        if wanted.timeZone { needs.insert(.timeZone) }
        if wanted.appVersion { needs.insert(.appVersion) }
        if wanted.attributes { needs.insert(.attributes) }
        return needs
    }
}

extension NotificationRecord {
    /// After this moment, by the clocks of ``clocksOfExpiry(_:)``, no try makes sense. What is not to be stored is tried
    /// when its turn comes, whenever that is. Without an expiration the longest storage counts from the first page.
    var expires: Timestamp {
        switch self.content.expiration {
        case .servicePolicy:
            self.progress.startedAt?.advanced(by: Expiration.longestStorage) ?? Timestamp(milliseconds: .max)
        case .immediate: Timestamp(milliseconds: .max)
        case .at(let seconds): Timestamp(seconds: seconds)
        }
    }

    /// The clocks that say whether it has expired: both for a moment that was named, the steady one for a length of time.
    func clocksOfExpiry(_ reading: ClockReading) -> ClockReading {
        self.content.expiration == .servicePolicy ? ClockReading(reading.steady) : reading
    }

    /// After this moment there is no further try. What is not to be stored has one more within a minute of its first.
    func lastRetry(sentAt: Timestamp, isRetry: Bool) -> Timestamp {
        guard self.content.expiration == .immediate else { return self.expires }
        return isRetry ? sentAt : sentAt.advanced(by: .seconds(60))
    }
}

extension Recipient {
    /// Whose badge is counted: the user's, or that of a device without one.
    var badgeHolder: String {
        if let user = self.profile?.user { return BadgeOwner.of(user: user) }
        return "device:\(self.device ?? self.id)"
    }

    func subject(badge: Int?) -> RenderSubject {
        RenderSubject(
            locale: self.profile?.locale,
            user: self.profile?.user,
            timeZone: self.profile?.timeZone,
            appVersion: self.profile?.appVersion,
            attributes: self.profile?.attributes,
            badge: badge
        )
    }
}
