import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// The proofs of configuration faults, and the probes of paused environments, by a manual clock.
@Suite struct ConfigurationFaultStateMachineTests {
    private static let target = AppEnvironment(app: 1, environment: .production)
    private let start = Timestamp(seconds: 1_700_000_000)
    private let rejected = ConfigurationFault(.credentialRejected, detail: "InvalidProviderToken", host: "a", port: 1)
    private let refused = ConfigurationFault(.refused, detail: "connection refused", host: "a", port: 1)
    private let untrusted = ConfigurationFault(.untrustedServer, detail: "TLS", host: "a", port: 1)
    private let clock = ConfigurationFault(.clock, detail: "ExpiredProviderToken", host: "a", port: 1)

    private func record(
        _ machine: inout ConfigurationFaultStateMachine,
        _ fault: ConfigurationFault,
        _ count: Int = 1,
        isRefuted: Bool = false,
        epoch: Int64? = nil,
        after: Duration = .zero
    ) -> ConfigurationFaultStateMachine.Verdict {
        var generator = SystemRandomNumberGenerator()
        return machine.record(
            fault,
            count: count,
            isRefuted: isRefuted,
            of: Self.target,
            epoch: epoch,
            at: ClockReading(self.start.advanced(by: after)),
            using: &generator
        )
    }

    // MARK: Proofs

    @Test func threeRejectedPushesPause() {
        var machine = ConfigurationFaultStateMachine()
        #expect(self.record(&machine, self.rejected) == .unproven)
        #expect(self.record(&machine, self.rejected) == .unproven)
        #expect(machine.status(of: Self.target)?.isPaused == false)
        let pause = EnvironmentPause(Self.target, self.rejected, since: self.start, proofs: 3)
        #expect(self.record(&machine, self.rejected) == .paused(pause, isNew: true))
        #expect(self.record(&machine, self.rejected) == .paused(pause, isNew: false))
        #expect(machine.pauses(of: 1) == [.production: pause])
        #expect(machine.pauses(of: 2) == [:])
    }

    @Test func acceptedPushesMakeProofsVoid() {
        var machine = ConfigurationFaultStateMachine()
        #expect(self.record(&machine, self.rejected, 2) == .unproven)
        machine.refute(Self.target, isConnection: false, now: self.start)
        #expect(machine.status(of: Self.target) == nil)
        #expect(self.record(&machine, self.rejected, 2) == .unproven)
        #expect(self.record(&machine, self.rejected, 500, isRefuted: true) == .unproven)
        #expect(self.record(&machine, self.rejected, 2) == .unproven)
    }

    @Test func anOpenConnectionDoesNotProveACredential() {
        var machine = ConfigurationFaultStateMachine()
        #expect(self.record(&machine, self.rejected, 2) == .unproven)
        machine.refute(Self.target, isConnection: true, now: self.start)
        #expect(self.record(&machine, self.rejected) != .unproven)
    }

    @Test func connectionsThatMaySucceedLaterNeedTime() {
        var machine = ConfigurationFaultStateMachine()
        for _ in 0..<20 { #expect(self.record(&machine, self.refused) == .unproven) }
        #expect(self.record(&machine, self.refused, after: .seconds(9)) == .unproven)
        #expect(self.record(&machine, self.refused, after: .seconds(10)) != .unproven)
    }

    /// Proxies are restarted.
    @Test func aProxyThatIsAwayNeedsTime() {
        var machine = ConfigurationFaultStateMachine()
        let away = ConfigurationFault(.proxyUnavailable, detail: "connection refused", host: "proxy", port: 1)
        for _ in 0..<20 { #expect(self.record(&machine, away) == .unproven) }
        #expect(self.record(&machine, away, after: .seconds(10)) != .unproven)
        machine = ConfigurationFaultStateMachine()
        let password = ConfigurationFault(.proxy, detail: "407", host: "proxy", port: 1)
        #expect(self.record(&machine, password) == .unproven)
        #expect(self.record(&machine, password) != .unproven)
    }

    @Test func anOpenConnectionMakesFailedOnesVoid() {
        var machine = ConfigurationFaultStateMachine()
        #expect(self.record(&machine, self.refused) == .unproven)
        machine.refute(Self.target, isConnection: true, now: self.start)
        #expect(self.record(&machine, self.refused, after: .seconds(10)) == .unproven)
    }

    @Test func anUntrustedServerNeedsTwoConnections() {
        var machine = ConfigurationFaultStateMachine()
        #expect(self.record(&machine, self.untrusted) == .unproven)
        #expect(self.record(&machine, self.untrusted) != .unproven)
    }

    @Test func aCredentialThatHasExpiredNeedsNoFurtherProof() {
        var machine = ConfigurationFaultStateMachine()
        #expect(self.record(&machine, ConfigurationFault(.credentialExpired, detail: "")) != .unproven)
    }

    /// A whole page may carry one provider token that has become too old.
    @Test func providerTokensThatAreTooOldNeedSeveralPages() {
        var machine = ConfigurationFaultStateMachine()
        #expect(self.record(&machine, self.clock, 1000) == .unproven)
        #expect(self.record(&machine, self.clock, 1000, after: .seconds(1)) == .unproven)
        #expect(self.record(&machine, self.clock, 1000, after: .seconds(3)) == .unproven)
        #expect(self.record(&machine, self.clock, 1000, after: .seconds(6)) != .unproven)
    }

    @Test func proofsAgainstAReplacedCredentialDoNotCount() {
        var machine = ConfigurationFaultStateMachine()
        #expect(self.record(&machine, self.rejected, 2, epoch: 1) == .unproven)
        machine.credentialChanged(Self.target, epoch: 2)
        #expect(self.record(&machine, self.rejected, 1000, epoch: 1) == .unproven)
        #expect(self.record(&machine, self.rejected, 3, epoch: 2) != .unproven)
    }

    // MARK: Pauses

    @Test func anotherCredentialEndsThePause() {
        var machine = ConfigurationFaultStateMachine()
        _ = self.record(&machine, self.rejected, 3, epoch: 1)
        machine.credentialChanged(Self.target, epoch: 2)
        #expect(machine.paused == [])
        #expect(machine.nextProbeAt == nil)
    }

    @Test func anAppThatIsGoneHasNoPause() {
        var machine = ConfigurationFaultStateMachine()
        _ = self.record(&machine, self.rejected, 3)
        machine.forget(app: 1)
        #expect(machine.paused == [])
        #expect(machine.nextProbeAt == nil)
    }

    @Test func theEndOfAnEarlierPauseLeavesThePresentOne() throws {
        var machine = ConfigurationFaultStateMachine()
        _ = self.record(&machine, self.rejected, 3)
        let first = try #require(machine.paused.first)
        machine.credentialChanged(Self.target, epoch: 1)
        _ = self.record(&machine, self.rejected, 3, epoch: 1, after: .seconds(1))
        machine.end(first)
        #expect(machine.paused.count == 1)
    }

    @Test func storedPausesAreProbedAtOnce() {
        var machine = ConfigurationFaultStateMachine()
        let pause = EnvironmentPause(Self.target, self.rejected, since: self.start, proofs: 3)
        machine.restore([pause], now: self.start)
        #expect(machine.takeProbes(now: self.start) == [pause])
        #expect(machine.takeProbes(now: self.start) == [])
    }

    // MARK: Probes

    @Test func probesBackOff() throws {
        var machine = ConfigurationFaultStateMachine()
        _ = self.record(&machine, self.rejected, 3)
        let pause = try #require(machine.paused.first)
        var now = self.start
        var generator = SystemRandomNumberGenerator()
        for failures in 1...20 {
            let next = try #require(machine.nextProbeAt)
            let limit = Backoff(base: .seconds(5), maximum: .seconds(60)).limit(afterFailures: failures)
            #expect(next >= now.advanced(by: .seconds(1)))
            #expect(next <= now.advanced(by: limit))
            #expect(machine.takeProbes(now: next.advanced(by: .milliseconds(-1))) == [])
            #expect(machine.takeProbes(now: next) == [pause])
            #expect(machine.nextProbeAt == nil)
            now = next
            #expect(machine.probeFailed(pause, self.rejected, now: now, using: &generator) == nil)
        }
    }

    @Test func aProbeMayFindAnotherCause() throws {
        var machine = ConfigurationFaultStateMachine()
        _ = self.record(&machine, self.untrusted, 2)
        let pause = try #require(machine.paused.first)
        var generator = SystemRandomNumberGenerator()
        let changed = machine.probeFailed(pause, self.rejected, now: self.start, using: &generator)
        #expect(changed?.fault == self.rejected)
        #expect(changed?.since == pause.since)
        #expect(machine.status(of: Self.target)?.fault == self.rejected)
    }

    @Test func aPushThatIsAcceptedAfterThePauseAsksForAProbe() throws {
        var machine = ConfigurationFaultStateMachine()
        _ = self.record(&machine, self.rejected, 3)
        machine.refute(Self.target, isConnection: false, now: self.start)
        #expect(machine.paused.count == 1)
        #expect(machine.nextProbeAt == self.start)
    }

    @Test func aPersonsProbeDoesNotRunBesideAnother() throws {
        var machine = ConfigurationFaultStateMachine()
        #expect(machine.takeProbe(of: Self.target) == nil)
        _ = self.record(&machine, self.rejected, 3)
        #expect(machine.takeProbe(of: Self.target) != nil)
        #expect(machine.takeProbe(of: Self.target) == nil)
    }

    /// Hundreds of apps whose push service is away do not keep the probe of another host waiting, and one that works again
    /// is enough for all of them.
    @Test func oneHostTakesHalfOfTheProbes() throws {
        var machine = ConfigurationFaultStateMachine()
        func pause(_ app: Int64, _ fault: ConfigurationFault) -> EnvironmentPause {
            let target = AppEnvironment(app: app, environment: .production)
            return EnvironmentPause(target, fault, since: self.start, proofs: 1)
        }
        let elsewhere = ConfigurationFault(.credentialRejected, detail: "", host: "b", port: 1)
        machine.restore((1...500).map { pause($0, self.refused) }, now: self.start)
        machine.restore([pause(501, elsewhere)], now: self.start.advanced(by: .seconds(1)))
        let now = self.start.advanced(by: .seconds(1))
        let taken = machine.takeProbes(now: now)
        #expect(taken.count == 9)
        #expect(taken.last?.target.app == 501)
        #expect(machine.takeProbes(now: now).isEmpty)
        var generator = SystemRandomNumberGenerator()
        let first = try #require(taken.first)
        _ = machine.probeFailed(first, first.fault, now: now, using: &generator)
        #expect(machine.takeProbes(now: now).count == 1)
        // The first one waits for its next probe. Another ends, and all become due.
        let second = taken[1]
        machine.end(second)
        machine.reached(second.fault, now: now)
        var probed: Set<Int64> = []
        while true {
            let due = machine.takeProbes(now: now)
            if due.isEmpty { break }
            for pause in due {
                probed.insert(pause.target.app)
                machine.end(pause)
            }
        }
        #expect(probed.contains(first.target.app))
        #expect(probed.count == 500 - 8)
    }
}
