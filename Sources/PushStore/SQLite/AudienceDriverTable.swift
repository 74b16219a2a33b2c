import GRDB
import Synchronization

/// The drivers of the notifications that are being sent: to choose one costs more than to use it.
final class AudienceDriverTable: Sendable {
    /// Drivers kept in memory.
    private static let maximumCount = 100

    private let known = Mutex<[Int64: AudienceDriver?]>([:])

    /// The driver of a notification, which is chosen if it is not known.
    func driver(of number: Int64, choose: () throws -> AudienceDriver?) rethrows -> AudienceDriver? {
        if let driver = self.known.withLock({ $0[number] }) { return driver }
        let driver = try choose()
        self.known.withLock { known in
            if known.count >= Self.maximumCount { known = [:] }
            known[number] = .some(driver)
        }
        return driver
    }
}
