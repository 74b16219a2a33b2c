import Foundation
import PushTypes
import PushWire

/// Acknowledgements of devices, and their absence.
extension RoutingStateMachine {
    /// Stores the messages that were sent before the last window and are not acknowledged, so that their pushes are
    /// accepted without waiting for a slow device. All of them: the device is still to get each.
    mutating func storeLateMessages() {
        let window = self.windows.current
        for device in self.windows.advance() {
            guard let index = self.sessions.index(of: device) else { continue }
            let late = self.sessions[index].unacknowledged.filter { $0.submission != nil && $0.window < window }
            for entry in late.sorted(by: { $0.id < $1.id }) {
                guard let submission = self.sessions[index].unacknowledged.markStored(entry.id) else { continue }
                self.batch.changes.append(.put(entry.message))
                self.batch.submissions.append(submission)
            }
        }
    }

    /// The device has these messages, or rejects them: they leave the store. Messages that wait for room are read next.
    mutating func acknowledged(_ id: DeviceSession.ID, _ acks: [DeviceLinkAcknowledgement], _ actions: inout Actions) {
        guard let index = self.index(of: id) else { return }
        let removesOlder = self.sessions[index].hasBacklog || self.sessions[index].hasHeld
        var newest: [TopicHash: Message] = [:]
        for ack in acks {
            guard let done = self.sessions[index].unacknowledged.remove(ack.messageID) else { continue }
            self.unacknowledgedBytes -= done.message.cost
            self.sessions[index].progressedAt = actions.now
            self.sessions[index].loads.acknowledged(done.message)
            let delivered: Event.Name = done.isFromStorage ? .deliveredFromStorage : .delivered
            self.log(ack.status == 0 ? delivered : .rejectedByDevice, done.message, &actions)
            if let submission = done.submission { actions.accepted.append(submission) }
            if let channel = done.message.channel {
                guard done.message.expiresAt != nil else { continue }
                self.batch.changes.append(
                    .advance(device: id.device, channel: channel, sequence: done.message.sequence)
                )
                continue
            }
            if done.isStored { self.batch.changes.append(.remove(done.message)) }
            let hash = done.message.topicHash
            if removesOlder, newest[hash].map({ $0.sequence < done.message.sequence }) ?? true {
                newest[hash] = done.message
            }
        }
        // A device that has these wants no older ones of their topics. Once for each topic, in whatever order it
        // acknowledges.
        for message in newest.values {
            self.batch.changes.append(.removeOlder(message, keeping: self.storedInFlight(before: message)))
        }
        self.loadBacklog(at: index)
    }

    /// Reads the messages that wait for room in the store, once half of the limit is free.
    mutating func loadBacklog(at index: Int) {
        guard self.sessions[index].hasBacklog,
            self.sessions[index].unacknowledged.count <= self.limits.unacknowledged / 2,
            self.sessions[index].unacknowledged.bytes <= self.limits.unacknowledgedBytes / 2
        else { return }
        self.sessions[index].hasBacklog = false
        self.load(.messages(isFirst: false), at: index)
    }
}
