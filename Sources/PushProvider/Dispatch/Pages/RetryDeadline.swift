import ProviderModel
import PushStore
import PushSupport
import PushTypes

extension RecipientExpiry {
    /// Returns the time after which no further retry is made. A notification that is not to be stored (expiration 0)
    /// has one retry, within a minute of its first attempt.
    func lastRetry(of recipient: Recipient, sentAt: Timestamp) -> Timestamp {
        self.lastRetry(of: recipient, sentAt: sentAt, isRetry: recipient.attempts > 0)
    }

    /// Returns the time after which no further retry is made.
    /// - Parameter isRetry: `true` if there was an attempt before, or the recipient was held back.
    func lastRetry(of recipient: Recipient, sentAt: Timestamp, isRetry: Bool) -> Timestamp {
        guard self.record.content.expiration == .immediate else { return self.end(of: recipient) }
        return isRetry ? sentAt : sentAt.advanced(by: .seconds(60))
    }
}

extension PreparedNotification {
    /// The maximum time for which a recipient is held back before it is examined again.
    private static let longestHold: Duration = .seconds(30 * 24 * 3600)

    /// Returns the retry of a recipient that a configuration fault holds back. It is due when the notification expires.
    ///
    /// The attempt does not count. A notification that is not to be stored waits for a minute.
    /// - Parameters:
    ///   - isRetry: `true` if the recipient has waited before.
    ///   - clocks: The clocks by which the notification expires.
    /// - Returns: The retry, or `nil` if the recipient expires now.
    func held(_ recipient: Recipient, isRetry: Bool, at clocks: ClockReading) -> RetryResult? {
        let expires = self.expiry.lastRetry(of: recipient, sentAt: clocks.earlier, isRetry: isRetry)
        guard expires > clocks.earlier else { return nil }
        var retry = RetryResult(recipient, dueAt: self.end(ofHold: expires, at: clocks).steady)
        retry.heldFor = recipient.environment
        return retry
    }

    /// Returns the time at which a held recipient or shard is examined again: its expiry, at most 30 days from now.
    func end(ofHold expires: Timestamp, at clocks: ClockReading) -> ClockReading {
        let wait = min(expires.since(clocks.earlier), Self.longestHold)
        return ClockReading(wall: clocks.wall.advanced(by: wait), steady: clocks.steady.advanced(by: wait))
    }
}

extension ConfigurationFault? {
    /// The reason in the final state of an expired recipient, including the fault that held it back.
    var expiryReason: String {
        let reason = "expired before it could be sent"
        return self.map { "\(reason): \($0.description)" } ?? reason
    }
}
