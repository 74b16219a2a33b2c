import PushSender
import PushStore
import PushSupport
import PushTypes

/// A notification with everything that its pages share.
struct PreparedNotification: Sendable {
    let record: NotificationRecord
    let decoded: DecodedNotification
    /// The notification's number in the store.
    let number: Int64
    let app: AppRecord?
    let senders: [PushEnvironment: any NotificationSender]
    /// The reasons for which environments have no sender.
    let faults: [PushEnvironment: String]
    /// The time after which no try makes sense.
    let expires: Timestamp
    /// `true` if a webhook subscribes to deliveries.
    let reportsDeliveries: Bool

    init(
        _ record: NotificationRecord,
        _ decoded: DecodedNotification,
        number: Int64,
        app: AppRecord?,
        senders: (usable: [PushEnvironment: any NotificationSender], faults: [PushEnvironment: String]),
        reportsDeliveries: Bool
    ) {
        (self.record, self.decoded, self.number, self.app) = (record, decoded, number, app)
        (self.senders, self.faults) = senders
        self.expires = record.expires
        self.reportsDeliveries = reportsDeliveries
    }

    /// Returns the parts of the profiles of a shard's recipients that have to be read.
    func needs(in zone: ShardPlan.Zone) -> RecipientNeeds {
        (self.decoded.renderer?.needs ?? []).union(self.reportsDeliveries ? [.user] : [])
            .union(zone == .remainder ? [.timeZone] : [])
    }
}

extension NotificationRecord {
    /// The time after which no try makes sense, by the clocks of ``clocksOfExpiry(_:)``.
    ///
    /// A notification that is not to be stored is tried whenever its page is sent. Without an expiration the
    /// longest storage counts from the first page.
    var expires: Timestamp {
        switch self.content.expiration {
        case .servicePolicy:
            self.progress.startedAt?.advanced(by: Expiration.longestStorage) ?? Timestamp(milliseconds: .max)
        case .immediate: Timestamp(milliseconds: .max)
        case .at(let seconds): Timestamp(seconds: seconds)
        }
    }

    /// Returns the clocks by which the notification expires: both for a named time, the steady clock for a length of time.
    func clocksOfExpiry(_ reading: ClockReading) -> ClockReading {
        self.content.expiration == .servicePolicy ? ClockReading(reading.steady) : reading
    }

    /// Returns the time after which there is no further try. A notification that is not to be stored has one more try
    /// within a minute of its first.
    func lastRetry(sentAt: Timestamp, isRetry: Bool) -> Timestamp {
        guard self.content.expiration == .immediate else { return self.expires }
        return isRetry ? sentAt : sentAt.advanced(by: .seconds(60))
    }
}
