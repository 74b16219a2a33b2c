public import PushTypes

extension Sender {
    /// Sends one broadcast and returns its outcome, in which ``Outcome/Accepted/id`` is the header `apns-request-id`.
    ///
    /// It waits for a connection like pushes, and shares theirs. A retry after ``Outcome/unknown(_:)`` may show it twice.
    public func broadcast(_ broadcast: Broadcast) async -> Outcome { await self.send(Push(broadcast)) }
}
