# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# domain: lazy, on a disk at work: its group's domain goes from DMA to DMA-FQ under the driver, and no read fails. The
# kernel lets nobody go back while the driver has the device: a restore says so, and the ledger keeps the first value.

# shellcheck source=tests/vm/guest/iscsi.sh
. /usr/lib/vm/iscsi.sh

have_daemon || return 0
id=pci:$NVME2~iova.domain
group=$(readlink -f "$pci/$NVME2/iommu_group")
driver=/sys/bus/pci/drivers/nvme

rm -f "$policy"
systemctl reload tuned-numaio.service
check "nothing is held" ctl apply
# A group's type is anybody's to choose while no driver has its device.
check_eq "the drive is alone in its group" "$(ls "$group/devices")" $NVME2
check "its driver lets it go" eval "echo $NVME2 >$driver/unbind"
check "the group gets a strict domain" eval "echo DMA >$group/type && file_is $group/type DMA"
check "the driver takes it again" eval "echo $NVME2 >$driver/bind"
nvme_disk() { compgen -G "$pci/$NVME2/nvme/nvme*/nvme*n1" >"$state/disk"; }
check "and its disk is there" wait_for 30 nvme_disk
read -r disk <"$state/disk"
wait_for 30 quiet
check_empty "nobody makes it lazy unasked" "$(decision "$id" | grep -vE '^(none|left|right) ')"

fio --name=load --filename="/dev/${disk##*/}" --direct=1 --rw=randread --bs=8k --ioengine=libaio --iodepth=16 --time_based \
	--runtime=120 --output-format=json --output="$state/fio.json" >"$state/fio.log" 2>&1 &
reader=$!
sleep 2
set_policy all 'iova: {domain: lazy}'
check "a rule makes it lazy under load" wait_for 20 file_is "$group/type" DMA-FQ
check_decision "which is said" "$id~type" '^applied IOMMU group .* is lazy'
check_eq "with what it was" "$(ctl decisions | jq -r --arg id "$id" '.items[] | select(.id | startswith($id)) | .first // empty')" DMA
sleep 2
kill -INT $reader
wait $reader
reads=$(sed -n '/^{/,$p' "$state/fio.json" | jq '.jobs[0] | if .error == 0 then .read.total_ios else -1 end')
check "none of $reads reads failed" test "$reads" -ge 100

# --- no way back ---------------------------------------------------------------------------

said=$(numaioctl restore "pci:$NVME2" 2>&1)
check_eq "a restore fails while the driver has it" $? 1
note "$said"
check_eq "it stays lazy" "$(<"$group/type")" DMA-FQ
check "its driver lets it go" eval "echo $NVME2 >$driver/unbind"
check "without it a restore of everything can" eval "numaioctl restore >/dev/null && file_is $group/type DMA"
check "the driver takes it again" eval "echo $NVME2 >$driver/bind"
rm "$policy"
systemctl reload tuned-numaio.service
check_empty "the services logged no error" "$(service_errors)"
