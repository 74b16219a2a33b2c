import AppSimulator
import Foundation
import MartletKit
import PushSupport
import PushTesting
import PushTypes

/// A reader's state machine with a manual clock, whose actions tests read.
struct ReaderDriver {
    let time = ManualTime()
    var machine: ReaderStateMachine
    /// The actions since the start, without `save`.
    private(set) var actions: [ReaderAction] = []

    init(rules: ReaderRules = ReaderRules(), network: ReaderNetwork = .wifi, state: ReaderState? = nil) {
        let state = state ?? ReaderState(deviceID: UUID())
        self.machine = ReaderStateMachine(state, rules: rules, network: network)
    }

    /// The events up to now.
    var events: [ReaderEvent] {
        self.actions.compactMap { if case .report(let event) = $0 { event } else { nil } }
    }

    /// The reasons for which pushes were skipped.
    var skipped: [String] {
        self.events.compactMap { if case .skipped(_, let reason) = $0 { reason.code } else { nil } }
    }

    /// The last action that is more than a report.
    var next: ReaderAction? {
        self.actions.last { action in
            switch action {
            case .report, .removePart: false
            default: true
            }
        }
    }

    mutating func take(_ actions: [ReaderAction]) { self.actions += actions.filter { $0 != .save } }

    /// Forgets the actions up to now.
    mutating func forget() { self.actions = [] }

    mutating func push(_ product: String, id: Int64? = nil) {
        self.take(self.machine.pushed(IssuePush(product: product, id: id), now: self.time.reading))
    }

    mutating func catalogue(_ catalogue: IssueCatalogue?) {
        self.take(self.machine.catalogueLoaded(catalogue, now: self.time.reading))
    }

    mutating func entitle(_ product: String, _ json: String = #""entitled":true,"by":"free""#) throws {
        self.take(self.machine.entitlementChecked(try Samples.entitlement(product, json), now: self.time.reading))
    }

    mutating func grant(_ product: String, hash: Character = "a", size: Int = 1000) throws {
        let grant = try Samples.grant(product, hash: hash, size: size)
        self.take(self.machine.granted(product, grant))
    }

    /// Lets bytes of the file arrive, now.
    mutating func receive(_ bytes: Int64, of product: String) {
        self.machine.received(bytes, of: product, since: self.time.reading)
    }

    mutating func fail(_ step: ReaderWork.Step, of product: String, _ error: NewsstandError) {
        self.take(self.machine.failed(step, of: product, error, now: self.time.reading))
    }

    mutating func finish(_ product: String) { self.take(self.machine.downloaded(product, now: self.time.reading)) }

    mutating func network(_ network: ReaderNetwork) { self.take(self.machine.networkChanged(to: network)) }

    /// Lets time pass, and reports it as the reader does.
    mutating func advance(by duration: Duration) {
        self.time.advance(by: duration)
        self.take(self.machine.timeReached(self.time.steady))
    }

    /// Goes from the push to the running download.
    mutating func beginDownload(_ product: String, of products: [String]? = nil) throws {
        self.push(product)
        self.catalogue(try Samples.catalogue(products ?? [product]))
        try self.entitle(product)
        try self.grant(product)
    }

    /// Goes from the push to the file.
    mutating func download(_ product: String, of products: [String]? = nil) throws {
        try self.beginDownload(product, of: products)
        self.finish(product)
    }

    /// Ends the process and begins another one with the state that was kept.
    mutating func restart(network: ReaderNetwork = .wifi) throws {
        let data = try JSONEncoder().encode(self.machine.state)
        let state = try JSONDecoder().decode(ReaderState.self, from: data)
        self.machine = ReaderStateMachine(state, rules: ReaderRules(), network: network)
        self.forget()
        self.take(self.machine.launched())
    }
}
