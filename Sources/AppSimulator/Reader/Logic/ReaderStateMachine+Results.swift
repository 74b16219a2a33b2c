import Foundation
package import MartletKit
package import PushSupport
import PushTypes

/// The results of the steps.
extension ReaderStateMachine {
    /// The catalogue is here; `nil` if it has not changed.
    package mutating func catalogueLoaded(_ catalogue: IssueCatalogue?, now: ClockReading) -> [ReaderAction] {
        if let catalogue { self.replaceLibrary(catalogue) }
        let listed = self.state.library.filter { !$0.isWithdrawn }
        let event = ReaderEvent.catalogue(issues: listed.count, isNew: catalogue != nil)
        guard self.isRunning(.catalogue), let product = self.state.work?.product else {
            return [.report(event), .save]
        }
        guard let issue = listed.first(where: { $0.product == product }) else {
            return [.report(event)] + self.end(with: .skipped(product: product, .withdrawn), now: now)
        }
        let newest = listed.first { $0.issue.publication == issue.issue.publication }
        let reason: IgnoredPushReason? =
            newest?.product != product ? .notNewest : issue.status == .downloaded ? .alreadyDownloaded : nil
        if let reason { return [.report(event)] + self.end(with: .skipped(product: product, reason), now: now) }
        return [.report(event), .save] + self.go(to: .entitlement)
    }

    /// The provider has decided about the entitlement.
    package mutating func entitlementChecked(_ entitlement: IssueEntitlement, now: ClockReading) -> [ReaderAction] {
        let product = entitlement.product
        guard self.isRunning(.entitlement, of: product) else { return [] }
        switch entitlement.decision {
        case .entitled(let grounds):
            self.change(product) { $0.entitledBy = grounds }
            return [.report(.entitled(product: product, by: grounds)), .save] + self.go(to: .cover)
        case .refused(let code, _):
            return self.end(with: .skipped(product: product, .notEntitled(code: code)), now: now)
        case .unavailable(let message, let delay):
            return self.fail(message, after: delay, now: now)
        }
    }

    /// The cover is here.
    package mutating func coverLoaded(_ product: String, _ cover: PublishedFile) -> [ReaderAction] {
        self.change(product) { $0.coverSHA256 = cover.sha256 }
        guard self.isRunning(.cover, of: product) else { return [.save] }
        return [.report(.coverLoaded(product: product)), .save] + self.go(to: .grant)
    }

    /// The provider allows the download. That of the day begins with the first byte.
    package mutating func granted(_ product: String, _ grant: DownloadGrant) -> [ReaderAction] {
        guard self.isRunning(.grant, of: product) else { return [] }
        // Bytes that have arrived of another file are no part of this one.
        let outdated = self.state.issue(product)?.file.flatMap { $0.sha256 == grant.file.sha256 ? nil : $0 }
        self.file = grant.file
        self.change(product) { issue in
            if outdated != nil { issue.received = 0 }
            (issue.status, issue.file, issue.entitledBy) = (.downloading, grant.file, grant.entitledBy)
        }
        // The failures of the download go on: an address alone is no progress.
        self.state.work?.step = .download
        return (outdated.map { [.removePart($0)] } ?? []) + [.save] + self.take()
    }

    /// So many bytes of the file have arrived. Nothing is to be done.
    /// - Parameter first: The time at which the first of them came since the download was taken up.
    package mutating func received(_ bytes: Int64, of product: String, since first: ClockReading) {
        guard self.isRunning(.download, of: product) else { return }
        self.beginDay(at: first)
        if bytes > self.state.issue(product)?.received ?? 0 { self.state.work?.failures = 0 }
        self.change(product) { $0.received = bytes }
    }

    /// Notes that the download of the day has begun, unless it has begun with an earlier byte of the same work.
    private mutating func beginDay(at time: ClockReading) {
        guard self.state.work?.hasBegun == false else { return }
        self.state.work?.hasBegun = true
        (self.state.lastDownload, self.lastSteady) = (time.wall, time.steady)
    }

    /// The file is here, whole and checked.
    package mutating func downloaded(_ product: String, now: ClockReading) -> [ReaderAction] {
        guard self.isRunning(.download, of: product), let file = self.file else { return [] }
        self.beginDay(at: now)
        self.change(product) { ($0.status, $0.received, $0.isMarked) = (.downloaded, file.size, true) }
        return self.end(with: .downloaded(product: product, bytes: file.size), now: now)
    }

    /// A step has failed.
    package mutating func failed(
        _ step: ReaderWork.Step,
        of product: String,
        _ error: NewsstandError,
        now: ClockReading
    ) -> [ReaderAction] {
        guard self.isRunning(step, of: product) else { return [] }
        // An issue can be read without its cover.
        if step == .cover { return self.go(to: .grant) }
        switch error {
        case .unavailable(let reason, let delay): return self.fail(reason, after: delay, now: now)
        case .malformed(let reason): return self.fail(reason, after: nil, now: now)
        case .refused(let code, _): return self.refused(code, step, product, "\(error)", now: now)
        case .wrongContent:
            guard self.state.work?.isSecondTry == false else { return self.giveUp("\(error)", now: now) }
            self.state.work?.isSecondTry = true
            self.change(product) { $0.received = 0 }
            let part = self.file.map { [ReaderAction.removePart($0)] } ?? []
            return part + [.save] + self.take()
        case .noSpace, .storage: return self.giveUp("\(error)", now: now)
        }
    }

    private mutating func refused(
        _ code: String,
        _ step: ReaderWork.Step,
        _ product: String,
        _ reason: String,
        now: ClockReading
    ) -> [ReaderAction] {
        switch (step, code) {
        case (.download, _):
            // The address has expired, or is that of an earlier file: the next one may be better.
            self.state.work?.step = .grant
            self.file = nil
            return self.fail(reason, after: nil, now: now)
        case (_, "issue_withdrawn"), (_, "no_such_issue"):
            let part = self.state.issue(product)?.file.map { [ReaderAction.removePart($0)] } ?? []
            self.change(product) { ($0.isWithdrawn, $0.status, $0.received) = (true, .listed, 0) }
            return part + self.end(with: .skipped(product: product, .withdrawn), now: now)
        case (.grant, "not_entitled"), (.grant, "transaction_expired"), (.grant, "transaction_revoked"):
            return self.end(with: .skipped(product: product, .notEntitled(code: code)), now: now)
        default: return self.giveUp(reason, now: now)
        }
    }

    /// Replaces the issues of the library by those of a catalogue, and keeps what is here.
    private mutating func replaceLibrary(_ catalogue: IssueCatalogue) {
        let known = Dictionary(self.state.library.map { ($0.product, $0) }) { first, _ in first }
        var library: [LibraryIssue] = []
        var products: Set<String> = []
        for entry in catalogue.issues where self.rules.allows(entry.product) && products.insert(entry.product).inserted
        {
            var issue = known[entry.product] ?? LibraryIssue(entry)
            (issue.issue, issue.isWithdrawn) = (entry, false)
            library.append(issue)
        }
        for var issue in self.state.library where !products.contains(issue.product) {
            // The file of an issue stays with its reader; of the others nothing is left.
            guard issue.status == .downloaded else { continue }
            // Older ones may be on the catalogue's next page.
            issue.isWithdrawn = catalogue.next == nil || issue.issue.date > catalogue.issues.last?.date ?? ""
            library.append(issue)
        }
        self.state.library = Self.bounded(library)
        self.state.entityTag = catalogue.entityTag
    }

    /// Returns as many issues as a library has at most: the oldest ones that are not downloaded go first.
    private static func bounded(_ library: [LibraryIssue]) -> [LibraryIssue] {
        var excess = library.count - ReaderState.maximumIssues
        guard excess > 0 else { return library }
        let kept = library.reversed().filter { issue in
            guard excess > 0, issue.status != .downloaded else { return true }
            excess -= 1
            return false
        }
        return Array(kept.reversed().prefix(ReaderState.maximumIssues))
    }
}
