import Logging
import PushStore
import PushSupport
import PushTypes

extension Dispatcher {
    /// Fills the places of a lane as long as there is something to do, else sleeps.
    func work(_ lane: NotificationRecord.Lane) async {
        let places = LaneSlots(lane, limits: self.limits, time: self.time)
        await withDiscardingTaskGroup { group in
            var isAwake = true
            while isAwake, !self.isEnding {
                do {
                    places.tick()
                    if try await self.fill(places, of: lane, in: &group) { continue }
                    let pause = try await self.untilNext(lane, places)
                    isAwake = await self.wakes[lane].wait(atMost: pause)
                } catch {
                    self.logger.error("dispatching failed, trying again", metadata: ["error": "\(error)"])
                    isAwake = await self.wakes[lane].wait(atMost: self.limits.sleep)
                }
            }
        }
    }

    /// Starts what there is a place for. Whether there was anything.
    private func fill(
        _ places: LaneSlots,
        of lane: NotificationRecord.Lane,
        in group: inout DiscardingTaskGroup
    ) async throws -> Bool {
        let hasRetried = try await self.fillWithRetries(places, of: lane, in: &group)
        let hasStarted = try await self.fillWithShards(places, of: lane, in: &group)
        return hasRetried || hasStarted
    }

    private func fillWithRetries(
        _ places: LaneSlots,
        of lane: NotificationRecord.Lane,
        in group: inout DiscardingTaskGroup
    ) async throws -> Bool {
        let wake = self.wakes[lane]
        for offer in places.offers(.retries) {
            let due = try await self.dueRetries(lane, excluding: Set(offer.excluded.map(\.app)))
            guard let app = due.first?.notification.app else { continue }
            let place = places.start(.retries, DispatchTarget(app: app, environment: nil))
            group.addTask {
                await self.retry(due, in: place)
                place?.end()
                wake.signal()
            }
            return true
        }
        return false
    }

    private func fillWithShards(
        _ places: LaneSlots,
        of lane: NotificationRecord.Lane,
        in group: inout DiscardingTaskGroup
    ) async throws -> Bool {
        let wake = self.wakes[lane]
        for offer in places.offers(.shards) {
            let limit = min(offer.limit, self.limits.urgentClaims)
            let claims = try await self.claim(lane, limit: limit, excluding: offer.excluded)
            guard !claims.isEmpty else { continue }
            for claim in claims {
                let place = places.start(.shards, DispatchTarget(claim.notification))
                group.addTask {
                    switch lane {
                    case .bulk: await self.logged { try await self.walk(claim, in: place) }
                    case .urgent: await self.sendUrgent(claim, in: place)
                    }
                    place?.end()
                    wake.signal()
                }
            }
            return true
        }
        return false
    }

    /// What is due already and was not taken waits for something that is under way, whose end is a signal; what becomes
    /// due meanwhile does not, and neither does a page that becomes late.
    private func untilNext(_ lane: NotificationRecord.Lane, _ places: LaneSlots) async throws -> Duration {
        let clocks = self.time.reading
        let oldest = places.isBusy ? clocks.steady : Timestamp(milliseconds: .min)
        let due = try await self.store.nextDue(lane: lane, after: oldest, at: clocks)
        guard let next = [due, places.nextDeadline].compactMap({ $0 }).min() else { return self.limits.sleep }
        let pause = next.since(clocks.steady)
        return min(self.limits.sleep, max(.milliseconds(pause <= .zero ? 50 : 1), pause))
    }

    private func logged(_ body: () async throws -> Void) async {
        do {
            try await body()
        } catch {
            self.logger.error("sending failed, trying again when the lease ends", metadata: ["error": "\(error)"])
        }
    }
}
