import ProviderModel
import PushStore
import PushSupport

/// Counts the notifications of a page towards their users' frequency caps. The counts must be on disk before the page
/// is sent, so pages of all lanes and slots share transactions.
struct FrequencyCapCounter: Sendable {
    private let batcher: WriteBatcher<FrequencyCapReservation, Result<Set<BytewiseString>, any Error>>

    init(_ store: any UserStore) {
        self.batcher = WriteBatcher { reservations in
            do {
                return try await store.reserve(reservations).map { .success($0) }
            } catch {
                return reservations.map { _ in .failure(error) }
            }
        }
    }

    /// Skips the recipients whose users have reached the cap, and counts the notification for the other recipients.
    ///
    /// Recipients to which pushes cannot be sent now are counted later, when they can.
    func reserve(_ work: inout PageWork, of notification: PreparedNotification, at clocks: ClockReading) async throws {
        guard let cap = notification.cap else { return }
        func counts(_ recipient: Recipient) -> Bool {
            // A named token that is not registered belongs to no device and no user.
            recipient.device != nil && notification.isSent(recipient, at: clocks.earlier)
        }
        let holders = Set(work.recipients.lazy.filter(counts).map(BadgeHolder.recipient))
        guard !holders.isEmpty else { return }
        let reservation = FrequencyCapReservation(
            cap,
            app: notification.record.app,
            notification: notification.number,
            holders: holders,
            now: clocks.steady
        )
        let reached = try await self.batcher.commit(reservation).get()
        guard !reached.isEmpty else { return }
        work.skip { counts($0) && reached.contains(BadgeHolder.recipient($0)) ? .capReached : nil }
    }
}
