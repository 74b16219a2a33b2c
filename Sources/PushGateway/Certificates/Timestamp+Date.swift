import Foundation
import PushTypes

/// Conversions for certificates, whose times are dates of Foundation.
extension Timestamp {
    /// The time in whole seconds.
    var date: Date { Date(timeIntervalSince1970: Double(self.seconds)) }

    /// Rounds down to whole seconds.
    init(_ date: Date) { self.init(seconds: Int64(date.timeIntervalSince1970.rounded(.down))) }
}
