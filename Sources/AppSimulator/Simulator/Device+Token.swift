import PushDevice
import PushSupport

extension Device {
    /// Returns the device token of a topic, for which it asks until there is one.
    /// - Returns: `nil` if the push service does not know the topic, or the phone ends.
    func token(of topic: String, log: SimulatorEventLog) async -> String? {
        while !Task.isCancelled {
            do {
                return try await self.deviceToken(for: topic)
            } catch is CancellationError {
                return nil
            } catch DeviceError.topicNotRegistered {
                log.problem("the push service knows no app \(topic): add it there first")
                return nil
            } catch {
                log.problem("no device token: \(ErrorDescription.of(error))")
            }
        }
        return nil
    }
}
