import Foundation
import Fuzzing
import ProviderModel
import PushTypes

/// Fuzzes cron expressions. The first byte of an input is a time zone, the next eight are a time in milliseconds.
@main
enum CronFuzz {
    /// Time zones with unusual changes of their clocks.
    private static let zones = [
        "UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca",
        "Asia/Kathmandu", "America/St_Johns",
    ].compactMap(TimeZone.init(identifier:))
    /// The number of runs that are checked.
    private static let runs = 4

    static func main() {
        Fuzzer.run { input in
            guard input.count >= 9, let zone = input.first.map({ Self.zones[Int($0) % Self.zones.count] }) else {
                return
            }
            let moment = input[1..<9].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            guard let text = String(validating: input.dropFirst(9), as: UTF8.self),
                let cron = try? CronExpression(text)
            else { return }
            precondition((try? CronExpression(cron.text)) == cron, "not the same again: \(cron.text)")
            Self.walk(cron, from: Timestamp(milliseconds: Int64(bitPattern: moment)), in: zone)
        }
    }

    /// Checks that each run is later than the one before, and stays the next one until its time.
    private static func walk(_ cron: CronExpression, from moment: Timestamp, in zone: TimeZone) {
        var moment = moment
        for _ in 0..<Self.runs {
            guard let run = cron.next(after: moment, in: zone) else { return }
            precondition(run > moment, "\(cron.text) in \(zone): \(run) is not after \(moment)")
            precondition(run.milliseconds % 60_000 == 0 || run.milliseconds < 0, "\(run) is no whole minute")
            let before = Timestamp(milliseconds: run.milliseconds - 1)
            guard before > moment else { return }
            let again = cron.next(after: before, in: zone)
            precondition(again == run, "\(cron.text) in \(zone): \(String(describing: again)) instead of \(run)")
            moment = run
        }
    }
}
