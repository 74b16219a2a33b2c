import GRDB
import Synchronization

/// The drivers of the notifications in progress: choosing one costs more than using it.
final class AudienceDriverTable: Sendable {
    /// The most drivers that are kept in memory.
    private static let maximumCount = 100

    private let known = Mutex<[Int64: AudienceDriver?]>([:])

    /// Returns the driver of a notification, which is chosen if it is not known.
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
