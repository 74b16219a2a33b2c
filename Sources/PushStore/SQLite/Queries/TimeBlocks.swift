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
        var mayFit = ""
        if let from {
            let endsLater = " AND latest >= \(from.milliseconds)"
            scan.range += """
                 AND \(scan.number) >= coalesce((SELECT block << 10 \(blocks)\(endsLater) ORDER BY block LIMIT 1),
                    9223372036854775807)
                """
            mayFit += endsLater
        }
        if let to {
            let beginsEarlier = " AND earliest < \(to.milliseconds)"
            scan.range += """
                 AND \(scan.number) < coalesce((SELECT (block + 1) << 10 \(blocks)\(beginsEarlier)
                    ORDER BY block DESC LIMIT 1), 0)
                """
            mayFit += beginsEarlier
        }
        scan.range += " AND (\(scan.number) >> 10) IN (SELECT block \(blocks)\(mayFit))"
    }
}
