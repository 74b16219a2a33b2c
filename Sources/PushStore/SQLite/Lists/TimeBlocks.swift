import GRDB
import PushTypes

/// The lists whose rows have times that are kept for each block of 1,024 numbers.
///
/// Numbers rise with the time only while nobody sets the clock, and two rows of one moment may have theirs in either order.
enum TimeBlocks: Int64 {
    case notifications = 0
    case audit = 1

    /// Bounds a walk to the blocks that may have rows of a range of times. Each row is examined for its own time besides.
    ///
    /// Between the first and the last of them there may be any number of others, of a clock that was wrong for one row: the database
    /// passes over their rows in the index, and they do not count as visited.
    func bound(_ scan: inout KeysetScan, from: Timestamp?, to: Timestamp?) {
        guard from != nil || to != nil else { return }
        let blocks = "FROM timeBlock WHERE list = \(self.rawValue)"
        var (mayFit, times): (String, [DatabaseValue]) = ("", [])
        if let from {
            scan.range += """
                 AND \(scan.number) >= coalesce((SELECT block << 10 \(blocks) AND latest >= ? ORDER BY block LIMIT 1),
                    9223372036854775807)
                """
            mayFit += " AND latest >= ?"
            times.append(from.milliseconds.databaseValue)
        }
        if let to {
            scan.range += """
                 AND \(scan.number) < coalesce((SELECT (block + 1) << 10 \(blocks) AND earliest < ?
                    ORDER BY block DESC LIMIT 1), 0)
                """
            mayFit += " AND earliest < ?"
            times.append(to.milliseconds.databaseValue)
        }
        scan.range += " AND (\(scan.number) >> 10) IN (SELECT block \(blocks)\(mayFit))"
        // Once for the bounds, and once for the blocks between them.
        scan.rangeArguments += times + times
    }
}
