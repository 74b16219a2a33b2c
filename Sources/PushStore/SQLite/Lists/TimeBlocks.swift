import GRDB
import PushTypes

/// The lists whose rows have times that are kept for each block of 1,024 numbers.
///
/// Numbers rise with the time only while nobody sets the clock, and two rows of one moment may have theirs in either order.
enum TimeBlocks: Int64 {
    case notifications = 0
    case audit = 1

    /// Bounds a walk to the blocks that may have rows of a range of times. Each row is examined for its own time besides.
    func bound(_ scan: inout KeysetScan, from: Timestamp?, to: Timestamp?) {
        let blocks = "FROM timeBlock WHERE list = \(self.rawValue)"
        if let from {
            scan.range += """
                 AND \(scan.number) >= coalesce((SELECT block << 10 \(blocks) AND latest >= ? ORDER BY block LIMIT 1),
                    9223372036854775807)
                """
            scan.rangeArguments.append(from.milliseconds.databaseValue)
        }
        if let to {
            scan.range += """
                 AND \(scan.number) < coalesce((SELECT (block + 1) << 10 \(blocks) AND earliest < ?
                    ORDER BY block DESC LIMIT 1), 0)
                """
            scan.rangeArguments.append(to.milliseconds.databaseValue)
        }
    }
}
