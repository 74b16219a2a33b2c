import Foundation
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import ProviderModel
@testable import PushProvider
@testable import PushStore

/// The next moment and the estimated end of a notification.
@Suite struct NotificationForecastTests {
    private static let start = Timestamp(seconds: 1_700_000_000)

    /// A notification that has been sent for 100 s, with 1,000 of 10,000 recipients done.
    private static func record(
        after elapsed: Duration = .seconds(100),
        _ change: (inout NotificationRecord) -> Void = { _ in }
    ) throws -> (NotificationRecord, Timestamp) {
        var record = try NotificationRecord.fixture(app: 1, to: .devices(.everyone))
        (record.state, record.createdAt, record.startsAt) = (.sending, Self.start, Self.start)
        record.progress.recipients = 10_000
        record.progress.accepted = 1000
        record.progress.startedAt = Self.start
        let now = Self.start.advanced(by: elapsed)
        record.progress.lastPageAt = now
        record.progress.ahead.shards = 1
        record.progress.ahead.firstShardAt = .atOnce
        record.progress.ahead.lastShardAt = .atOnce
        change(&record)
        return (record, now)
    }

    private static func forecast(_ record: NotificationRecord, _ now: Timestamp) -> NotificationForecast {
        NotificationForecast(record, clocks: ClockReading(now))
    }

    @Test func withoutHoursTheRateDecides() throws {
        let (record, now) = try Self.record()
        let forecast = Self.forecast(record, now)
        #expect(forecast.rate == 10)
        #expect(forecast.nextAt == nil && forecast.cause == nil)
        #expect(forecast.secondsLeft == 900)
        #expect(forecast.finishesAt == now.advanced(by: .seconds(900)))
    }

    @Test func aPaceDecidesBeforeAnythingIsMeasured() throws {
        let (record, now) = try Self.record { $0.pace = .rate(100) }
        #expect(Self.forecast(record, now).secondsLeft == 90)
    }

    /// 500 a minute: one wave is done and waits, so 9,000 take 18 further waves.
    @Test func wavesWait() throws {
        let (record, now) = try Self.record(after: .seconds(10)) { record in
            record.pace = .waves(size: 500, interval: 60)
            record.progress.wave = WaveProgress(startedAt: Self.start, sent: 500)
            record.progress.ahead.nextPageAt = Self.start.advanced(by: .seconds(60))
        }
        let forecast = Self.forecast(record, now)
        #expect(forecast.nextAt == Self.start.advanced(by: .seconds(60)))
        #expect(forecast.cause == .wave)
        #expect(forecast.finishesAt == Self.start.advanced(by: .seconds(18 * 60)))
        #expect(forecast.secondsLeft == 18 * 60 - 10)
    }

    /// 22:15 UTC is outside the hours: 9,000 at 10 a second take 15 minutes from the next opening on.
    @Test func hoursThatAreClosedCount() throws {
        let nine = try #require(LocalTime("09:00"))
        let ten = try #require(LocalTime("09:10"))
        let window = try #require(SendWindow(windows: [DailyHours(from: nine, to: ten)]))
        let (record, now) = try Self.record { record in
            record.delivery = DeliveryTime(beginning: .now, window: window, zone: .fixed(.gmt))
            // 100 s in yesterday's hours.
            let opening = Timestamp(seconds: 1_699_952_400)
            record.progress.startedAt = opening
            record.progress.lastPageAt = opening.advanced(by: .seconds(100))
            record.progress.ahead.firstShardAt = Timestamp(seconds: 1_700_038_800)
            record.progress.ahead.lastShardAt = Timestamp(seconds: 1_700_038_800)
        }
        let forecast = Self.forecast(record, now)
        #expect(forecast.cause == .window)
        #expect(forecast.nextAt?.rfc3339 == "2023-11-15T09:00:00Z")
        #expect(forecast.rate == 10)
        // Ten minutes on the first day, five on the second.
        #expect(forecast.finishesAt?.rfc3339 == "2023-11-16T09:05:00Z")
    }

    @Test func theLastTimeZoneIsTheEarliestEnd() throws {
        let later = Self.start.advanced(by: .seconds(36_000))
        let local = try #require(LocalDateTime("2023-11-16T09:00"))
        let (record, now) = try Self.record { record in
            record.delivery = DeliveryTime(beginning: .local(local, past: .send))
            record.progress.ahead.shards = 3
            record.progress.ahead.firstShardAt = Self.start.advanced(by: .seconds(3600))
            record.progress.ahead.lastShardAt = later
            record.progress.ahead.isFirstShardUnread = true
        }
        let forecast = Self.forecast(record, now)
        #expect(forecast.nextAt == Self.start.advanced(by: .seconds(3600)))
        #expect(forecast.cause == .localTime)
        #expect(forecast.finishesAt.map { $0 >= later } == true)
    }

    @Test func nothingIsEstimatedWhereNothingIsKnown() throws {
        let (unmeasured, now) = try Self.record { record in
            record.progress.accepted = 0
            record.progress.startedAt = nil
        }
        #expect(Self.forecast(unmeasured, now).secondsLeft == nil)
        let (retrying, _) = try Self.record { record in
            record.progress.ahead.shards = 0
            (record.progress.ahead.firstShardAt, record.progress.ahead.lastShardAt) = (nil, nil)
            record.progress.ahead.retryAt = now.advanced(by: .seconds(600))
        }
        let forecast = Self.forecast(retrying, now)
        #expect(forecast.cause == .retry)
        #expect(forecast.nextAt == now.advanced(by: .seconds(600)))
        #expect(forecast.secondsLeft == nil && forecast.finishesAt == nil)
        for state in [NotificationRecord.State.paused, .done, .cancelled] {
            let (ended, _) = try Self.record { $0.state = state }
            let none = Self.forecast(ended, now)
            #expect(none.nextAt == nil && none.secondsLeft == nil && none.finishesAt == nil)
        }
    }

    /// Held recipients are due when they expire. What is awaited is the probe, unless something else comes first.
    @Test func aPausedEnvironmentWaitsForItsProbe() throws {
        func status(_ now: Timestamp) -> EnvironmentStatus {
            let fault = ConfigurationFault(.credentialRejected, detail: "InvalidProviderToken")
            let probe = now.advanced(by: .seconds(30))
            return EnvironmentStatus(
                .init(fault: fault, proofs: 3, since: now, isPaused: true, nextProbeAt: probe),
                ClockReading(now)
            )
        }
        for (retryAfter, cause, nextAfter) in [
            (86_400, NotificationForecast.Cause.environment, 30), (10, .retry, 10),
        ] {
            let (record, now) = try Self.record { record in
                (record.progress.ahead.firstShardAt, record.progress.ahead.lastShardAt) = (nil, nil)
                record.progress.ahead.retryAt = record.progress.lastPageAt?.advanced(by: .seconds(retryAfter))
            }
            let forecast = NotificationForecast(record, clocks: ClockReading(now), paused: status(now))
            #expect(forecast.cause == cause)
            #expect(forecast.nextAt == now.advanced(by: .seconds(nextAfter)))
            #expect(forecast.secondsLeft == nil || cause == .retry)
        }
    }

    @Test func aScheduledNotificationNamesItsStart() throws {
        let (record, now) = try Self.record { record in
            record.state = .scheduled
            record.startsAt = Self.start.advanced(by: .seconds(5000))
        }
        #expect(Self.forecast(record, now).nextAt == record.startsAt)
        #expect(Self.forecast(record, now).cause == .start)
        let first = record.startsAt.advanced(by: .seconds(3600))
        let local = NotificationForecast(record, firstStart: first, clocks: ClockReading(now))
        #expect(local.nextAt == first && local.cause == .localTime)
    }

    /// The estimate is never 0 while something is left.
    @Test(arguments: [1, 2, 9_999, 10_000, 100_000_000])
    func theEstimateIsNeverZero(done: Int) throws {
        let (record, now) = try Self.record { record in
            record.progress.recipients = done + 1
            record.progress.accepted = done
        }
        #expect(try #require(Self.forecast(record, now).secondsLeft) >= 1)
    }
}
