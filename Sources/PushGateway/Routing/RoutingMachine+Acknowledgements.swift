import Foundation
import PushTypes
import PushWire

/// Acknowledgements of devices, and the end of sessions without them.
extension RoutingMachine {
    /// Whether something is on its way whose owner waits for an answer.
    var awaitsWindow: Bool { !self.recent.isEmpty || !self.waiting.isEmpty }

    /// The device is looked at when the next window has passed after this one.
    mutating func awaitWindow(_ device: UUID, at index: Int) {
        guard self.sessions[index].notedWindow != self.window else { return }
        self.sessions[index].notedWindow = self.window
        self.recent.append(device)
    }

    /// A window has passed: what was sent before the last one and is not acknowledged yet goes to the store, so that its
    /// owner does not wait longer for a slow device. All of it: the device is still to get each.
    mutating func windowPassed() {
        for device in self.waiting {
            guard let index = self.sessions.index(of: device) else { continue }
            let window = self.window
            let late = self.sessions[index].unacknowledged.filter { $0.submission != nil && $0.window < window }
            for entry in late.sorted(by: { $0.id < $1.id }) {
                guard let waiter = self.sessions[index].unacknowledged.handOver(entry.id) else { continue }
                self.batch.changes.append(.put(entry.message))
                self.batch.waiters.append(waiter)
            }
        }
        self.waiting = self.recent
        self.recent = []
        self.window += 1
    }

    /// The device has these messages, or will not have them: they leave the store. What waited for room comes next.
    mutating func acknowledged(
        _ device: UUID,
        session id: DeviceSession.ID,
        _ acks: [DeviceLinkAcknowledgement],
        now: Timestamp,
        _ effects: inout Effects
    ) {
        guard let index = self.index(device, id) else { return }
        for ack in acks {
            guard let done = self.sessions[index].unacknowledged.remove(ack.messageID) else { continue }
            self.unacknowledgedBytes -= done.message.cost
            self.sessions[index].progressedAt = now
            if self.sessions[index].isLoading {
                self.sessions[index].acknowledgedMeanwhile.insert(done.message.sequence)
            }
            let delivered: Event.Name = done.isFromStorage ? .deliveredFromStorage : .delivered
            effects.events.append(self.event(ack.status == 0 ? delivered : .refusedByDevice, done.message, now))
            if let submission = done.submission { effects.settled.append(submission) }
            if let channel = done.message.channel {
                guard done.message.expiresAt != nil else { continue }
                self.batch.changes.append(.advance(device: device, channel: channel, sequence: done.message.sequence))
                continue
            }
            if done.isStored { self.batch.changes.append(.remove(done.message)) }
            if self.sessions[index].hasBacklog || self.sessions[index].hasHeld {
                // A device that has this one wants no older one of its topic.
                let others = self.onTheirWay(before: done.message)
                self.batch.changes.append(.removeOlder(done.message, beside: others))
            }
        }
        self.loadBacklog(at: index, device)
    }

    /// Fetches what waited for room, once there is some.
    mutating func loadBacklog(at index: Int, _ device: UUID) {
        guard self.sessions[index].hasBacklog,
            self.sessions[index].unacknowledged.count <= self.limits.unacknowledged / 2,
            self.sessions[index].unacknowledged.bytes <= self.limits.unacknowledgedBytes / 2
        else { return }
        self.sessions[index].hasBacklog = false
        self.load(.messages(isFirst: false), at: index, device)
    }
}
