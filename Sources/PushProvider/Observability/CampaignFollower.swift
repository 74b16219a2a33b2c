import Foundation
import ProviderModel
import PushStore

/// Compares the states of campaigns, which are read every second, and decides which of their steps are logged.
struct CampaignFollower {
    enum Step: String, Hashable, Sendable {
        case accepted, started, paused, resumed, cancelled, ended
    }

    /// The steps of one campaign since its state was last read.
    struct Progress: Hashable, Sendable {
        var id: UUID
        var app: Int64
        var steps: [Step]
    }

    /// The maximum number of campaigns that are followed at the same time. Further ones are not followed.
    static let maximumCount = 1000

    private struct Known {
        var state: NotificationRecord.State
        var hasStarted: Bool
    }

    private var known: [Int64: Known] = [:]
    /// The number of the newest notification that was read, or `nil` before the first reading.
    private(set) var newest: Int64?

    /// The numbers of the followed campaigns that have not ended.
    var open: [Int64] { Array(self.known.keys) }

    /// Compares a reading with the last one, and returns the steps in between. The first reading yields no steps.
    mutating func follow(_ reading: CampaignReading) -> [Progress] {
        let isFirst = self.newest == nil
        self.newest = reading.newest
        var all: [Progress] = []
        var seen: Set<Int64> = []
        for campaign in reading.campaigns {
            seen.insert(campaign.number)
            let before = self.known[campaign.number]
            let steps = isFirst ? [] : Self.steps(from: before, to: campaign)
            let hasEnded = campaign.state == .done || campaign.state == .cancelled
            if hasEnded {
                self.known[campaign.number] = nil
            } else if before != nil || self.known.count < Self.maximumCount {
                self.known[campaign.number] = Known(state: campaign.state, hasStarted: campaign.hasStarted)
            }
            if !steps.isEmpty { all.append(Progress(id: campaign.id, app: campaign.app, steps: steps)) }
        }
        // These campaigns were deleted.
        for number in self.known.keys where !seen.contains(number) { self.known[number] = nil }
        return all
    }

    /// Returns the steps between two readings.
    /// - Parameter before: The state at the last reading, or `nil` for a new campaign.
    private static func steps(from before: Known?, to campaign: CampaignState) -> [Step] {
        var steps: [Step] = before == nil ? [.accepted] : []
        let isActive = [.scheduled, .accepted, .sending].contains(campaign.state)
        if before?.state == .paused, isActive || campaign.state == .done { steps.append(.resumed) }
        if campaign.hasStarted, before?.hasStarted != true { steps.append(.started) }
        switch campaign.state {
        case .paused where before?.state != .paused: steps.append(.paused)
        case .cancelled: steps.append(.cancelled)
        case .done: steps.append(.ended)
        case .scheduled, .accepted, .sending, .paused: break
        }
        return steps
    }
}
