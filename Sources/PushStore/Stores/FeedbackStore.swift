package import PushTypes

/// The readings of feedback services, one at a time for each app and environment.
package protocol FeedbackStore: Sendable {
    /// Returns the last reading; `nil` before the first.
    func feedbackRun(of target: AppEnvironment) async throws -> FeedbackRun?
    /// Returns the environments for which apps have a certificate, and whose next reading is due at a time of the steady
    /// clock.
    func dueFeedback(at time: Timestamp) async throws -> [AppEnvironment]
    /// Begins a reading, unless the next one is not due yet.
    /// - Parameters:
    ///   - due: The time by the steady clock at which it is due; `nil` begins it at any time.
    ///   - nextAt: The time of the next reading, if this one does not end.
    func beginFeedback(
        of target: AppEnvironment,
        due: Timestamp?,
        nextAt: Timestamp,
        now: Timestamp
    ) async throws -> FeedbackStartResult
    /// Ends a reading.
    func endFeedback(of target: AppEnvironment, _ run: FeedbackRun) async throws
    /// Returns the active devices of an environment with one of some tokens.
    func activeDevices(of target: AppEnvironment, tokens: [DeviceToken]) async throws -> [DeviceRecord]
    /// Applies changes of tokens that a feedback list asks for, in one transaction.
    func apply(_ changes: [TokenStateChange], of target: AppEnvironment, now: Timestamp) async throws
}

/// The store's response to the beginning of a reading.
package enum FeedbackStartResult: Hashable, Sendable {
    /// It is begun; the number of failures in a row before it.
    case begun(failures: Int)
    case notDue
}
