import Logging
import PushStore
import PushSupport
import PushTypes

extension Dispatcher {
    /// Fills the slots of a lane while there is work, and sleeps otherwise.
    func run(_ lane: NotificationRecord.Lane) async {
        let slots = LaneSlots(lane, limits: self.limits, time: self.time)
        await withDiscardingTaskGroup { group in
            if lane == .urgent {
                let work = self.direct.open(slots)
                group.addTask { await self.send(work) }
            }
            var isAwake = true
            while isAwake, !self.isEnding {
                do {
                    slots.tick()
                    if lane == .urgent { self.direct.fill() }
                    if try await self.start(in: slots, of: lane, in: &group) { continue }
                    let pause = try await self.pause(of: lane, slots)
                    isAwake = await self.wakes[lane].wait(atMost: pause)
                } catch {
                    self.logger.error("dispatching failed, trying again", metadata: ["error": "\(error)"])
                    isAwake = await self.wakes[lane].wait(atMost: self.limits.sleep)
                }
            }
            if lane == .urgent { await self.direct.close() }
        }
    }

    /// Starts work for which there is a slot.
    /// - Returns: `true` if there was any.
    private func start(
        in slots: LaneSlots,
        of lane: NotificationRecord.Lane,
        in group: inout DiscardingTaskGroup
    ) async throws -> Bool {
        let hasRetried = try await self.startRetries(in: slots, of: lane, in: &group)
        let hasStarted = try await self.startShards(in: slots, of: lane, in: &group)
        return hasRetried || hasStarted
    }

    private func startRetries(
        in slots: LaneSlots,
        of lane: NotificationRecord.Lane,
        in group: inout DiscardingTaskGroup
    ) async throws -> Bool {
        for offer in slots.offers(.retries) {
            let due = try await self.claimRetries(lane, excluding: Set(offer.excluded.map(\.app)))
            guard let app = due.first?.notification.app else { continue }
            let slot = slots.acquire(.retries, DispatchTarget(app: app, environment: nil))
            group.addTask {
                await self.retry(due, in: slot)
                self.release(slot, of: lane)
            }
            return true
        }
        return false
    }

    private func startShards(
        in slots: LaneSlots,
        of lane: NotificationRecord.Lane,
        in group: inout DiscardingTaskGroup
    ) async throws -> Bool {
        for offer in slots.offersOfShards() {
            let limit = min(offer.limit, self.limits.urgentClaims)
            let claims = try await self.claimShards(lane, limit: limit, excluding: offer.excluded)
            guard !claims.isEmpty else {
                if lane == .urgent { self.direct.noneWaits(besides: offer.excluded) }
                continue
            }
            for held in claims {
                let slot = slots.acquire(.shards, DispatchTarget(held.claim.notification))
                group.addTask {
                    switch lane {
                    case .bulk:
                        do { try await self.sendShard(held, in: slot) } catch {
                            let metadata: Logger.Metadata = ["error": "\(error)"]
                            self.logger.error("sending failed, trying again when the lease ends", metadata: metadata)
                        }
                        self.release(slot, of: lane)
                    case .urgent:
                        let leavesWork = await self.sendUrgent(held, in: slot)
                        self.releaseUrgent(slot, leavesWork: leavesWork)
                    }
                }
            }
            return true
        }
        return false
    }

    /// Sends notifications that were claimed when they were accepted, each as it comes.
    private func send(_ work: AsyncStream<DirectDispatch.Work>) async {
        await withDiscardingTaskGroup { group in
            for await work in work {
                group.addTask {
                    // A claim that has waited long may have been stopped, and its recipients may have changed.
                    let page = self.time.steady < work.freshUntil ? work.shard.page : nil
                    let held = TrackedClaim(claim: work.shard.claim, memory: work.memory)
                    let leavesWork = await self.sendUrgent(held, page, hasWaited: page == nil, in: work.slot)
                    self.releaseUrgent(work.slot, leavesWork: leavesWork)
                }
            }
        }
    }

    /// Frees the slot of an urgent notification. The lane is not woken for each of them: it would look for work in the store.
    private func releaseUrgent(_ slot: LaneSlots.Slot?, leavesWork: Bool) {
        let isWanted = slot?.release() ?? true
        self.direct.fill()
        if isWanted || leavesWork { self.wakes[.urgent].signal() }
    }

    private func release(_ slot: LaneSlots.Slot?, of lane: NotificationRecord.Lane) {
        slot?.release()
        self.wakes[lane].signal()
    }

    /// Returns the time to sleep without a signal.
    ///
    /// Work that is due already and was not taken waits for work in flight, the end of which is a signal. Work that becomes
    /// due meanwhile, and a page that becomes late, end the sleep.
    private func pause(of lane: NotificationRecord.Lane, _ slots: LaneSlots) async throws -> Duration {
        let clocks = self.time.reading
        let oldest = slots.isBusy ? clocks.steady : Timestamp(milliseconds: .min)
        let due = try await self.store.nextDue(lane: lane, after: oldest, at: clocks)
        guard let next = [due, slots.nextDeadline].compactMap({ $0 }).min() else { return self.limits.sleep }
        let pause = next.since(clocks.steady)
        return min(self.limits.sleep, max(.milliseconds(pause <= .zero ? 50 : 1), pause))
    }
}
